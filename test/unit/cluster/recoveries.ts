import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import type { RecoveryPodView, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
import { all, memberId, silent, withEndpoint, without, withRecord } from './observations.ts';

/** A recovery of three members that goes on from the first. */
export const id = '0123456789ab';

export const outvotedOf = (...ordinals: readonly number[]) =>
  ordinals.map((ordinal) => ({ name: `orders-${ordinal}`, memberId: memberId(ordinal) }));

/** What the volume of the first says. */
export const recovery = (attempt: number, rest: Partial<VolumeRecord> = {}): Partial<VolumeRecord> => ({
  state: 'recovering',
  recovery: { id, attempt, lastSeenOn: {} },
  outvoted: outvotedOf(1, 2),
  ...rest,
});

export const stopped = all(without('statefulSet', 'pod'), withEndpoint(silent));
export const superseded = all(stopped, withRecord({ state: 'superseded' }));

export const job = {
  name: 'orders-0-recovery',
  uid: 'job',
  leaving: false,
  attempt: `${id}/1`,
  failed: false,
} as const;
export const pod: RecoveryPodView = { name: 'orders-0-recovery-x', uid: 'job-pod', leaving: false, ready: false };

export const known = (view: Partial<Extract<RecoveryView, { kind: 'known' }>> = {}): RecoveryView => ({
  kind: 'known',
  pods: [],
  nodes: {},
  ...view,
});
