import { isNotInstalled, type KubeError } from '../interfaces/kube.ts';
/** Every reason of a node policy's conditions and events: one closed table, from which its documents follow. */

export interface NodeMeaning {
  readonly means: string;
  /** What a person does about it. Absent: nothing, it ends by itself or is as it should be. */
  readonly cure?: string;
  /** Something went wrong: the policy is Stalled, and no other node begins. */
  readonly stuck?: true;
}

const names = 'Do what the message says.';

export const nodeMeanings = {
  // As it should be.
  NothingToDo: { means: 'No node needs a reboot.' },
  Granted: { means: 'The node begins: it is cordoned.' },
  Cordoned: { means: 'The node is cordoned for its reboot.' },
  Draining: { means: 'Pods leave the node; members of etcd clusters last.' },
  MovingLeaders: { means: 'Leadership moves to members on other nodes.' },
  EvictingMembers: { means: 'The members of etcd clusters leave the node.' },
  Rebooting: { means: 'The node was told to reboot, and is awaited.' },
  Returned: { means: 'The node is back with another boot, and takes pods again.' },
  AwaitingMembers: { means: 'The node is back. Its members are not all healthy and in sync yet.' },
  RebootDone: { means: 'The node was rebooted, and its members are healthy and in sync.' },
  CalledOff: { means: 'The wish for a reboot was taken away before it was too late: the node takes pods again.' },
  NodeGone: { means: 'The Node object is gone, or another one has its name.' },
  PolicyGone: {
    means:
      'The node bears marks of a reboot that no policy has begun with: they are taken away. It stays cordoned, and begins with no reboot until it is uncordoned.',
    cure: 'Uncordon the node, if it was cordoned for that reboot: `kubectl uncordon NODE`.',
  },
  // Of a look for the file of `spec.sentinel`.
  SentinelFound: { means: 'The file of `spec.sentinel` is there: the node needs a reboot.' },
  SentinelStays: {
    means:
      'The file of `spec.sentinel` is older than the boot that runs: the reboot did not take it away, so it counts for nothing.',
    cure: 'Delete the file on the node, or let it be made where a reboot takes it away, as under /var/run.',
  },
  LookFailed: {
    means:
      'The Job that looks for the file of `spec.sentinel` gave no answer in two minutes. The next look is as usual.',
    cure: 'Read the events of the Job `look-…` in the namespace of the reboots: mostly the directory is not there, or the image can not be pulled.',
  },
  // Waiting to begin.
  Suspended: { means: '`spec.suspend` is true: no reboot begins.' },
  OutsideWindows: { means: 'None of `spec.windows` is open.' },
  InvalidWindow: { means: 'A window can not be read. No reboot begins.', cure: names },
  NoRoom: { means: 'As many nodes as `spec.maxUnavailable` allows are unavailable.' },
  PutOff: { means: 'The node was begun with, and could not be drained in time: others have their turn.' },
  OtherGroup: { means: 'A node of another group (`spec.groupLabel`) is unavailable: groups go one after the other.' },
  AlertFiring: { means: 'An alert of `spec.blockedByAlerts` is firing.' },
  AlertsUnreadable: {
    means: 'The Prometheus of `spec.blockedByAlerts` does not say which alerts are firing: no node begins.',
    cure: 'Correct `spec.blockedByAlerts.url`, or let etcd-ratchet reach it.',
  },
  NodeNotReady: { means: 'The node is not Ready: nothing can be started there.', cure: 'Repair the node.' },
  OfOtherPolicy: { means: 'Another policy has begun with this node, or comes before this one by name.' },
  KuredAtWork: {
    means: 'kured says that it reboots a node of this policy, or a node holds its lock, or that can not be read.',
    cure: 'Let one of the two do it: docs/how-to/node-reboots.md.',
  },
  BlockingPod: { means: 'A pod of `spec.blockedBy` runs on the node, or one of a backup, restore or recovery.' },
  UnmanagedPod: {
    means: 'A pod on the node belongs to no controller, and would be lost.',
    cure: 'Delete that pod, or set `spec.drain.unmanagedPods` to Evict.',
  },
  // What etcd says.
  ClusterWithoutQuorum: { means: 'No quorum of a cluster with a member there answers.', cure: names },
  ClusterStopped: {
    means: 'A cluster with a member there is suspended, paused or being deleted.',
    cure: 'Let it be resumed. Or name it in `spec.allowDowntimeOf`: then it keeps a node for `spec.clusterTimeout` at most.',
  },
  ClusterBusy: { means: 'A cluster with a member there is in the middle of a step, or about to take one.' },
  MemberDown: { means: 'Another member of a cluster with a member there is down or lags.' },
  TwoMembersThere: { means: 'Two members of one cluster are on the node.', cure: names },
  QuorumNeedsNode: { means: 'A cluster would lose its quorum without its member on the node.', cure: names },
  // What keeps one that has begun.
  EvictionRefused: { means: 'A PodDisruptionBudget does not let a pod leave.' },
  OrderTakenBack: {
    means: 'Since the node was told to reboot, a pod or a member came there, or a cluster can not spare it any more.',
  },
  DrainTimedOut: { means: 'The node could not be drained within `spec.drain.timeout`. It takes pods again.' },
  RebootNotBegun: {
    means: 'The Job that reboots the node did not come to do it in time. The node takes pods again.',
    cure: 'Read the events and the log of that Job: mostly its method does not fit the host.',
  },
  JobRefused: { means: 'The API server refuses the Job that reboots the node.', cure: names },
  RebootNotComing: {
    means: 'The Job told the host to reboot, and the same boot is still there after `spec.reboot.timeout`.',
    cure: 'Reboot the node by hand. Or remove its annotation `etcd.ratchet.dev/reboot-needed`: it takes pods again.',
    stuck: true,
  },
  NodeNotBack: {
    means: 'The node does not come back. No other node begins.',
    cure: 'Repair the node, or delete its Node object. Members whose volumes are lost with it are replaced.',
    stuck: true,
  },
  MembersNotBack: {
    means: 'The node is back, and a cluster with a member there is not whole in time. No other node begins.',
    cure: 'Do what the conditions of that EtcdCluster say. Or name it in `spec.allowDowntimeOf`: then it is not awaited.',
    stuck: true,
  },
} as const satisfies Record<string, NodeMeaning>;

export type NodeReason = keyof typeof nodeMeanings;

/** Whether a person must look, and no other node begins. */
export function isStuck(reason: NodeReason): boolean {
  const meaning: NodeMeaning = nodeMeanings[reason];
  return meaning.stuck === true;
}

export function notLookedAt(error: KubeError): string {
  const cure = isNotInstalled(error) ? 'apply the CRDs and the component node-reboots' : 'the next tick looks again';
  return `node policies can't be looked at: ${cure}`;
}
