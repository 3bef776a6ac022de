import assert from 'node:assert/strict';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { wantedRollback } from '../../../reconcile/cluster/know/backups/rollback.ts';
import type { Observation, RecoveryView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { clusterId, healthy, initialCluster } from './observations.ts';

/** Clusters of three that are asked to go back to a snapshot. */

export const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };
export const rollback = { clusterID: clusterId, snapshot };

export const spec = (more: Partial<EtcdClusterSpec> = {}): Partial<EtcdClusterSpec> => ({ rollback, ...more });

/** What a person has to set for exactly this. */
export function approvalFor(wish: NonNullable<EtcdClusterSpec['rollback']> = rollback): string {
  return wantedRollback(healthy(3, { spec: { rollback: wish } }))?.approval ?? assert.fail('no rollback');
}

export const approved = (text = approvalFor()) => ({ annotations: { [annotations.rollBack]: text } });

export function asked(given: string | undefined, wish = rollback): Observation {
  return healthy(3, { spec: { rollback: wish }, ...(given !== undefined && { metadata: approved(given) }) });
}

export const late = (attempt = 0, more: Partial<VolumeRecord> = {}): Slot => {
  const [slot] = healthy(4, { spec: spec() }).slots.slice(3);
  assert.ok(slot?.volume && slot.peer && slot.configMap);
  const id = wantedRollback(asked(undefined))?.id ?? '';
  const {
    clusterId: _,
    memberId: __,
    ...rest
  } = slot.volume.record.kind === 'valid' ? slot.volume.record.record : assert.fail();
  const record: VolumeRecord = {
    ...rest,
    token: 'another',
    initialCluster: initialCluster(4).slice(3),
    state: 'restoring',
    recovery: { id, attempt, lastSeenOn: {} },
    gaveUp: [clusterId],
    ...more,
  };
  return {
    name: slot.name,
    ordinal: slot.ordinal,
    peer: slot.peer,
    configMap: slot.configMap,
    volume: { ...slot.volume, bound: attempt > 0, record: { kind: 'valid', record } },
    endpoint: { kind: 'unknown', cause: 'nothing runs there' },
  };
};

/** While the snapshot is restored beside it. */
export function beside(
  given: string | undefined,
  slot: Slot,
  view: Partial<Extract<RecoveryView, { kind: 'known' }>> = {},
): Observation {
  const observation = healthy(3, {
    spec: spec(),
    ...(given !== undefined && { metadata: approved(given) }),
    more: [slot],
  });
  const slots = withoutOutvoted(observation.slots);
  return { ...observation, slots, recovery: { kind: 'known', pods: [], nodes: {}, ...view } };
}
