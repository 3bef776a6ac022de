import type { EtcdNodePolicySpec, EtcdNodePolicyStatus } from '../../manifests/api/etcd-node-policy.ts';
import type { openingOf } from '../time/due.ts';
import { timestamp } from '../time/timestamp.ts';
import { clusterTimeoutOf, drainTimeoutOf, roomOf, unmanagedAmong } from './decision.ts';
import { objectionOf } from './etcd.ts';
import { clockSkew } from './marks.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import type { NodeReason } from './reasons.ts';

/** Why a node that needs a reboot does not begin now. Pure. */

export interface Circumstances {
  readonly opening: ReturnType<typeof openingOf>;
  readonly isHeld: boolean;
}

export type Objected = { readonly reason: NodeReason; readonly message: string } | undefined;

/** The order of its objections: what a person decided, what the policy allows, what runs on it, and what etcd says. */
export function objectionToBegin(seen: NodesObservation, node: NodeSeen, circumstances: Circumstances): Objected {
  return (
    objectionOfPolicy(seen, node, circumstances) ??
    objectionOfPods(node, seen.policy.spec) ??
    objectionOfEtcd(seen, node)
  );
}

function objectionOfPolicy(seen: NodesObservation, node: NodeSeen, { opening, isHeld }: Circumstances): Objected {
  const { policy, at } = seen;
  const { name } = node;
  if (policy.metadata.deletionTimestamp !== undefined || policy.spec.suspend)
    return { reason: 'Suspended', message: `${name} does not begin while spec.suspend is true` };
  if (opening.kind === 'unreadable') return { reason: 'InvalidWindow', message: `spec.${opening.problem}` };
  if (opening.kind === 'shut') {
    const opens = opening.opensAt ? `, the next opens at ${timestamp(opening.opensAt)}` : '';
    return { reason: 'OutsideWindows', message: `${name} begins within a window of spec.windows${opens}` };
  }
  if (node.ofOther !== undefined)
    return { reason: 'OfOtherPolicy', message: `EtcdNodePolicy ${node.ofOther} is about ${name} as well` };
  const outside = objectionOfAlerts(seen, name) ?? objectionOfKured(seen, name);
  if (outside) return outside;
  if (isHeld) return { reason: 'NoRoom', message: `${name} waits for a node that is stuck` };
  if (!node.ready || node.bootId === '')
    return { reason: 'NodeNotReady', message: `${name} is not Ready, or does not say which boot it runs` };
  const { putOff } = node.marks;
  if (node.marks.granted) {
    const message = `${name} bears marks of a reboot that no policy has begun with: they are taken away in two minutes`;
    return { reason: 'PolicyGone', message };
  }
  // Its cordon may be of the policy that is gone: begun anew, it would be taken for a person's, and stay for ever.
  if (putOff?.word === 'PolicyGone' && node.unschedulable) {
    const cure = `uncordon it, and it begins: kubectl uncordon ${name}`;
    return { reason: 'PolicyGone', message: `${name} was cordoned when its policy was deleted: ${cure}` };
  }
  const isOver = putOff?.word === 'CalledOff' || putOff?.word === 'PolicyGone';
  const away = seen.nodes.filter((one) => isUnavailable(seen, one));
  if (away.length >= roomOf(policy.spec, seen.nodes.filter((one) => one.selected).length)) {
    const names = away.slice(0, 5).map((one) => one.name);
    return { reason: 'NoRoom', message: `${name} waits: ${names.join(', ')} unavailable` };
  }
  const elsewhere = away.find(({ group }) => group !== node.group);
  if (elsewhere) {
    const words = ({ name: one, group = '' }: NodeSeen) => `${one} of group "${group}"`;
    return { reason: 'OtherGroup', message: `${words(node)} waits: ${words(elsewhere)} is unavailable` };
  }
  // A mark from the future is a stranger's: it would put the node off for as long.
  const isMark = putOff && putOff.at.getTime() - at.getTime() <= clockSkew;
  const until = isMark && !isOver ? new Date(putOff.at.getTime() + drainTimeoutOf(policy.spec)) : undefined;
  if (putOff && until && at < until)
    return { reason: 'PutOff', message: `${name} was put off (${putOff.word}), until ${timestamp(until)}` };
  return undefined;
}

function objectionOfAlerts({ alerts }: NodesObservation, name: string): Objected {
  if (alerts === undefined) return undefined;
  if (alerts.kind === 'unreadable') {
    const message = `${name} does not begin while the alerts of spec.blockedByAlerts can't be read: ${alerts.why}`;
    return { reason: 'AlertsUnreadable', message };
  }
  const [first] = alerts.names;
  if (first === undefined) return undefined;
  const more = alerts.names.length > 1 ? ` and ${alerts.names.length - 1} others` : '';
  return { reason: 'AlertFiring', message: `${name} waits while alert ${first}${more} is firing` };
}

/** It says so on the Node, where it annotates nodes; its lock says so always, where the policy names it. */
function objectionOfKured({ nodes, kuredLock }: NodesObservation, name: string): Objected {
  const [held] = kuredLock ?? [];
  if (held) return { reason: 'KuredAtWork', message: `kured's lock is held by ${held}: ${name} waits` };
  const marked = nodes.find((one) => one.kured);
  return marked && { reason: 'KuredAtWork', message: `kured reboots ${marked.name}: ${name} waits` };
}

function objectionOfPods({ name, pods }: NodeSeen, spec: EtcdNodePolicySpec): Objected {
  if (pods === undefined) return { reason: 'NoRoom', message: `${name} was not looked at yet: it waits for its turn` };
  const blocking = pods.find(({ blocks }) => blocks);
  if (blocking)
    return { reason: 'BlockingPod', message: `${name} waits for pod ${blocking.namespace}/${blocking.name}` };
  return unmanagedAmong(pods, spec);
}

function objectionOfEtcd(seen: NodesObservation, node: NodeSeen): Objected {
  const { clusters, policy, ofOthers = [] } = seen;
  const begun = [...(policy.status?.grants ?? []), ...ofOthers];
  for (const key of clustersOn(node)) {
    const cluster = clusters.find((one) => one.key === key);
    if (!cluster) return { reason: 'ClusterBusy', message: `EtcdCluster ${key} could not be looked at` };
    const downtime = isNamed(seen, key);
    const objection = objectionOf(cluster, node.name, { downtime, overruled: isOverruled(seen, key) });
    if (objection) return { ...objection, message: `${objection.message}${yieldsWhen(seen, key)}` };
    // Its member there may still serve: the two would hand leadership to each other, and one wait for the other.
    const other = begun.find((grant) => grant.clusters.includes(key) && grant.node !== node.name);
    if (other && !downtime) {
      const message = `EtcdCluster ${key} has a member on ${other.node} as well, which has begun: ${node.name} waits`;
      return { reason: 'ClusterBusy', message };
    }
  }
  return undefined;
}

/** A person lets it be down. */
function isNamed({ policy }: NodesObservation, key: string): boolean {
  return policy.spec.allowDowntimeOf?.includes(key) ?? false;
}

/** Those that a person lets be down, and that have kept nodes for longer than the policy lets them. */
export function overruledOn(seen: NodesObservation, node: NodeSeen): readonly string[] {
  return clustersOn(node).filter((key) => isOverruled(seen, key));
}

function isOverruled(seen: NodesObservation, key: string): boolean {
  return isNamed(seen, key) && seen.at >= yieldsAt(seen, key);
}

function yieldsAt({ policy, at }: NodesObservation, key: string): Date {
  const since = policy.status?.keeping?.find(({ cluster }) => cluster === key)?.since;
  return new Date((since === undefined ? at : new Date(since)).getTime() + clusterTimeoutOf(policy.spec));
}

function yieldsWhen(seen: NodesObservation, key: string): string {
  const until = yieldsAt(seen, key);
  return isNamed(seen, key) && until > seen.at ? `. It may keep nodes until ${timestamp(until)}` : '';
}

/** Named clusters that would keep a node now, whatever else keeps it: a window, or another node, ends no such time. */
export function keepingNow(
  seen: NodesObservation,
  waiting: readonly NodeSeen[],
): NonNullable<EtcdNodePolicyStatus['keeping']> {
  const { policy, clusters, at } = seen;
  const before = policy.status?.keeping ?? [];
  const isUnseen = waiting.some(({ pods }) => pods === undefined);
  return [...new Set(policy.spec.allowDowntimeOf)].flatMap((cluster) => {
    const known = before.filter((one) => one.cluster === cluster);
    const looked = clusters.find(({ key }) => key === cluster);
    const on = waiting.filter((node) => clustersOn(node).includes(cluster));
    if (!looked || on.length === 0) return isUnseen || on.length > 0 ? known : [];
    const keeps = on.some((node) => objectionOf(looked, node.name, { downtime: true, overruled: false }));
    if (!keeps) return [];
    return known.length > 0 ? known : [{ cluster, since: timestamp(at) }];
  });
}

export function clustersOn({ pods = [] }: NodeSeen): readonly string[] {
  return [...new Set(pods.flatMap(({ cluster }) => cluster ?? []))].toSorted();
}

/** Not Ready, under way, or cordoned by us: also where the grant is another policy's, or was lost. */
function isUnavailable({ policy }: NodesObservation, { name, ready, selected, marks }: NodeSeen): boolean {
  const isGranted = policy.status?.grants?.some((grant) => grant.node === name) ?? false;
  return isGranted || (selected && (!ready || marks.granted !== undefined));
}
