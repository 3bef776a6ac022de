import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { formatSealedDisk } from '../../../../manifests/render/sealed-disk.ts';
import { recordOf } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';

/**
 * What a person approves: that these members go on with exactly these disks. One word for each, so that an approval
 * that was half carried out when an invocation died still fits the rest. A PVC has one disk in its life, and no two
 * PVCs have the same UID.
 */
export function diskApprovalOf(clusterId: string, slots: readonly Slot[]): string {
  return `${clusterId}/${slots
    .map((slot) => wordFor(clusterId, slot))
    .toSorted()
    .join('.')}`;
}

/** As a person set it; hostile or not, it is only ever compared. */
export function acceptedDisks({ cluster }: Pick<Observation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.acceptDisks];
}

/** Whether exactly this disk was approved. */
export function isAccepted(slot: Slot, clusterId: string, observation: Pick<Observation, 'cluster'>): boolean {
  const given = acceptedDisks(observation) ?? '';
  const prefix = `${clusterId}/`;
  return given.startsWith(prefix) && given.slice(prefix.length).split('.').includes(wordFor(clusterId, slot));
}

function wordFor(clusterId: string, slot: Slot): string {
  const { uid = '', disk } = slot.volume ?? {};
  const record = recordOf(slot);
  // Read only while it counts as another disk; once it is accepted, the record has it.
  const handle = disk?.handle ?? (disk?.pv === record?.disk?.pv ? record?.disk?.handle : undefined) ?? undefined;
  const found = disk ? formatSealedDisk({ pv: disk.pv, ...(handle !== undefined && { handle }) }) : '';
  const parts = { clusterId, memberId: record?.memberId ?? '', claim: uid, disk: found };
  return hashOf(parts).slice(0, 12);
}
