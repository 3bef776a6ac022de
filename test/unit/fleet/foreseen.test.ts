import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intentsFor } from '../../../functions/pass/plan-pass.ts';
import { foreseenSpec } from '../../../reconcile/fleet/foreseen.ts';
import type { ManagedFields } from '../../../reconcile/objects/hands.ts';
import { clusterOf, fleetWith, specOf } from './objects.ts';

const manager = 'etcd-ratchet-fleet-platform-production';

test('a plan without a request foresees what the document has, and what others own', () => {
  const live = clusterOf('orders');
  const spec = { ...live.spec, etcd: { snapshotCount: 9, heartbeatInterval: '1s' }, suspend: true };
  const owned = {
    'f:replicas': {},
    'f:version': {},
    'f:storage': { 'f:size': {} },
    'f:tls': { 'f:mode': {} },
    'f:suspend': {},
  };
  const byHand = (fieldsV1: object): ManagedFields => ({ manager: 'kubectl-patch', operation: 'Update', fieldsV1 });
  const entries = [
    { manager, operation: 'Apply' as const, fieldsV1: { 'f:spec': owned } },
    byHand({ 'f:spec': { 'f:etcd': { 'f:snapshotCount': {}, 'f:heartbeatInterval': {} } } }),
  ];
  const { suspend: _, ...listed } = live.spec;
  const document = { ...listed, replicas: 5, etcd: { heartbeatInterval: '2s' } };
  const planned = (managedFields: readonly ManagedFields[]) => ({
    kind: 'update' as const,
    spec: { ...specOf('orders'), object: { metadata: live.metadata, spec: document } },
    live: { ...live, kind: 'EtcdCluster' as const, spec, metadata: { ...live.metadata, managedFields } } as never,
  });
  const etcd = { snapshotCount: 9, heartbeatInterval: '2s' };
  assert.deepEqual(foreseenSpec(planned(entries), manager), { ...document, etcd });
  assert.deepEqual(foreseenSpec(planned([]), manager), document, 'no owners are recorded');
  const { kind: _kind, live: _live, ...made } = planned(entries);
  assert.deepEqual(foreseenSpec({ kind: 'create', ...made }, manager), document);
});

test('a plan of a cluster starts from the answer of the dry run, where there is one', async () => {
  const live = { ...clusterOf('orders'), kind: 'EtcdCluster' as const };
  const asked = { ...specOf('orders'), object: { metadata: live.metadata, spec: live.spec } };
  const apply = { kind: 'update' as const, spec: asked, live };
  const changed = { applies: [apply], prune: [] };
  const answer = { ...live, spec: { ...live.spec, etcd: { snapshotCount: 9 } } };
  const [planned] = await intentsFor(fleetWith(), changed, new Map([[apply, answer]]));
  assert.deepEqual(planned?.kind === 'update' && planned.desired.spec.etcd, { snapshotCount: 9 });
  const [without] = await intentsFor(fleetWith(), changed);
  assert.equal(without?.kind === 'update' && without.desired.spec.etcd, undefined);
});
