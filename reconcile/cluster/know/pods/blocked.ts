import { kubectl } from '../../../../manifests/render/kubectl.ts';
import { podName } from '../../../../manifests/render/names.ts';
import type { Reason } from '../../../reasons/reasons.ts';
import type { Ailment } from '../health/ailment.ts';
import type { Slot, Warning } from '../observation.ts';

type Kind = Ailment extends infer A ? (A extends Ailment ? Pick<A, 'passing' | 'reason'> : never) : never;

type Row = Kind & {
  readonly object: Warning['object'];
  /**
   * Reasons of events. Where several are reported, the first matching row counts: each row may wait for those above.
   */
  readonly codes: readonly string[];
  readonly says: (slot: Slot) => string;
  readonly cure: (slot: Slot) => string;
};

const rows: readonly Row[] = [
  {
    object: 'statefulSet',
    codes: ['FailedCreate'],
    reason: 'PodRefused',
    passing: false,
    says: ({ name }) => `the API server refuses the pod of ${name}`,
    cure: () =>
      'raise the ResourceQuota, let the Pod Security level or the named webhook admit the pod, or correct spec.podTemplate; the StatefulSet controller then tries again by itself, within 17 minutes',
  },
  {
    object: 'volume',
    codes: ['ProvisioningFailed'],
    reason: 'VolumeNotProvisioned',
    passing: true,
    says: ({ name }) => `no volume is provisioned for ${name}`,
    cure: (slot) =>
      `correct spec.storage.storageClassName, or the provisioner of that class; what it reports: ${kubectl(slot, `describe pvc ${slot.name}`)}`,
  },
  {
    object: 'pod',
    codes: ['FailedAttachVolume'],
    reason: 'VolumeNotAttached',
    passing: true,
    says: ({ name, pod }) => `the volume of ${name} is not attached to node ${pod?.node}`,
    cure: (slot) => `free the volume from the node that has it, or correct its storage driver; ${orGiveUp(slot)}`,
  },
  {
    object: 'pod',
    codes: ['FailedMount', 'FailedMapVolume', 'VolumeResizeFailed', 'FileSystemResizeFailed'],
    reason: 'VolumeNotMounted',
    passing: true,
    says: ({ name, pod }) => `kubelet on node ${pod?.node} cannot mount what ${name} needs`,
    cure: (slot) =>
      `create what the message names as missing, or repair the disk, the node or its storage driver; ${orGiveUp(slot)}`,
  },
  {
    object: 'pod',
    codes: ['FailedCreatePodSandBox', 'NetworkNotReady'],
    reason: 'PodSandboxFailed',
    passing: true,
    says: ({ name, pod }) => `kubelet on node ${pod?.node} cannot set up the pod of ${name}`,
    cure: (slot) =>
      `correct the network plugin or the container runtime of that node, or raise spec.resources.limits.memory where the message says that it is too low; or cordon the node, and ${kubectl(slot, `delete pod ${podName(slot.name)}`)}`,
  },
];

function orGiveUp(slot: Slot): string {
  return `if its disk is lost: ${kubectl(slot, `delete pvc ${slot.name}`)}, and the member is replaced while a quorum of the others is healthy`;
}

/**
 * It has a node, and kubelet has not yet mounted its volumes or given it a network. A container that ran may wait for
 * them again.
 */
export function isBeforeItsStart({ pod }: Slot): boolean {
  if (pod?.node === undefined || pod.leaving || pod.ready || pod.container.state === 'running') return false;
  return pod.hasSandbox === undefined ? !pod.container.everStarted : !pod.hasSandbox;
}

/** As reported for the object that exists now; `undefined`: nothing is. */
export function blockedBy(slot: Slot, object: Warning['object']): Ailment | undefined {
  const told = warningsOf(slot, object);
  for (const row of rows) {
    const [warning] = told
      .filter(({ reason }) => row.object === object && row.codes.includes(reason))
      .toSorted(byCount);
    if (!warning) continue;
    const words = warning.message === '' ? '' : `: ${warning.message}`;
    return { ...row, message: `${row.says(slot)} (${warning.reason}${words})`, cure: row.cure(slot) };
  }
  return undefined;
}

/** Whether this is a reason of the table above. */
export function isBlockedFor(reason: Reason | undefined): boolean {
  return rows.some((row) => row.reason === reason);
}

/** Warnings about an earlier object of that name do not count. */
export function warningsOf(slot: Slot, object: Warning['object']): readonly Warning[] {
  const uid = slot[object]?.uid;
  return (slot.warnings ?? []).filter((warning) => warning.object === object && warning.uid === uid);
}

function byCount(a: Warning, b: Warning): number {
  return b.count - a.count || (a.reason < b.reason ? -1 : 1);
}
