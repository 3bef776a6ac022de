import { podName } from '../../manifests/build/names.ts';
import type { Slot, Warning } from './observation.ts';

/** What keeps a member from coming to run, in a word for machines, one for people, and what to do. */
export interface HeldUp {
  readonly reason: string;
  readonly message: string;
  /** It may pass by itself: it becomes a person's when it has not for the grace of a member. */
  readonly passing: boolean;
  readonly cure: string;
}

interface Row {
  readonly object: Warning['object'];
  /** Codes of events. Where several are reported, the first row counts that has one of them: each waits for those above. */
  readonly codes: readonly string[];
  readonly reason: string;
  readonly passing: boolean;
  readonly says: (slot: Slot) => string;
  readonly cure: (name: string) => string;
}

const rows: readonly Row[] = [
  {
    object: 'statefulSet',
    codes: ['FailedCreate'],
    reason: 'PodRefused',
    passing: false,
    says: ({ name }) => `the API server refuses the pod of ${name}`,
    cure: () =>
      'raise the ResourceQuota, let the Pod Security level or the webhook that is named admit the pod, or correct spec.podTemplate; the StatefulSet controller then tries again by itself, within 17 minutes',
  },
  {
    object: 'volume',
    codes: ['ProvisioningFailed'],
    reason: 'VolumeNotProvisioned',
    passing: true,
    says: ({ name }) => `no volume is provisioned for ${name}`,
    cure: (name) =>
      `correct spec.storage.storageClassName, or the provisioner of that class; kubectl describe pvc ${name} shows what it says`,
  },
  {
    object: 'pod',
    codes: ['FailedAttachVolume'],
    reason: 'VolumeNotAttached',
    passing: true,
    says: ({ name, pod }) => `the volume of ${name} is not attached to node ${pod?.node}`,
    cure: (name) => `free the volume from the node that has it, or see to its storage driver; ${orGiveUp(name)}`,
  },
  {
    object: 'pod',
    codes: ['FailedMount', 'FailedMapVolume', 'VolumeResizeFailed', 'FileSystemResizeFailed'],
    reason: 'VolumeNotMounted',
    passing: true,
    says: ({ name, pod }) => `kubelet on node ${pod?.node} does not mount what ${name} needs`,
    cure: (name) =>
      `create what the message says is missing, or repair the disk, the node or its storage driver; ${orGiveUp(name)}`,
  },
  {
    object: 'pod',
    codes: ['FailedCreatePodSandBox', 'NetworkNotReady'],
    reason: 'PodSandboxFailed',
    passing: true,
    says: ({ name, pod }) => `kubelet on node ${pod?.node} can't set up the pod of ${name}`,
    cure: (name) =>
      `see to the network plugin and the container runtime of that node; or cordon it, and kubectl delete pod ${podName(name)}`,
  },
];

function orGiveUp(name: string): string {
  return `if its disk is lost: kubectl delete pvc ${name}, and the member is replaced while a quorum of the others is healthy`;
}

/** It has a node, and not yet what kubelet needs for its containers: volumes and a network. A container that ran may wait for them anew. */
export function isBeforeItsStart({ pod }: Slot): boolean {
  if (pod?.node === undefined || pod.leaving || pod.ready || pod.container.state === 'running') return false;
  return pod.hasSandbox === undefined ? !pod.container.everStarted : !pod.hasSandbox;
}

/** As reported of the object that is there now; `undefined`: nothing is. */
export function heldUpBy(slot: Slot, object: Warning['object']): HeldUp | undefined {
  const told = warningsOf(slot, object);
  for (const row of rows) {
    const [warning] = told
      .filter(({ reason }) => row.object === object && row.codes.includes(reason))
      .toSorted(byCount);
    if (!warning) continue;
    const { reason, passing, says, cure } = row;
    const words = warning.message === '' ? '' : `: ${warning.message}`;
    return { reason, passing, message: `${says(slot)} (${warning.reason}${words})`, cure: cure(slot.name) };
  }
  return undefined;
}

/** Whether this is one of our words for it. */
export function isHeldUpFor(reason: string): boolean {
  return rows.some((row) => row.reason === reason);
}

/** Of an earlier object of that name nothing counts. */
export function warningsOf(slot: Slot, object: Warning['object']): readonly Warning[] {
  const uid = slot[object]?.uid;
  return (slot.warnings ?? []).filter((warning) => warning.object === object && warning.uid === uid);
}

function byCount(a: Warning, b: Warning): number {
  return b.count - a.count || (a.reason < b.reason ? -1 : 1);
}
