import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { keptDefaults } from '../../../manifests/api/kept-defaults.ts';
import { driftStatement } from '../../../reconcile/cluster/report/drift.ts';
import { driftedAmong, verdictOf } from '../../../reconcile/fleet/roll-up.ts';
import { statementsFor } from '../../../reconcile/fleet/statements.ts';
import { driftOf, removalOf, sayDrift } from '../../../reconcile/objects/drift.ts';
import type { ManagedFields } from '../../../reconcile/objects/hands.ts';
import { clusterOf, conditions, fleetWith } from './objects.ts';

const manager = 'etcd-ratchet-fleet-platform-production';
const ofDocument = {
  'f:metadata': { 'f:labels': { 'f:etcd.ratchet.dev/fleet': {} } },
  'f:spec': { 'f:replicas': {}, 'f:version': {}, 'f:storage': { 'f:size': {} }, 'f:tls': { 'f:mode': {} } },
};
const applied: ManagedFields = { manager, operation: 'Apply', fieldsV1: ofDocument };
const byHand = (spec: object, more: Partial<ManagedFields> = {}): ManagedFields => ({
  manager: 'kubectl-patch',
  operation: 'Update',
  fieldsV1: { 'f:spec': spec },
  ...more,
});

function live(spec: object, entries: readonly ManagedFields[] = [applied]): EtcdCluster & { kind: 'EtcdCluster' } {
  const cluster = clusterOf('orders', { annotated: { 'etcd.ratchet.dev/source': 'prod/orders.yaml' } });
  const metadata = { ...cluster.metadata, managedFields: entries };
  return { ...cluster, kind: 'EtcdCluster', metadata, spec: { ...cluster.spec, ...spec } } as never;
}

const said = (cluster: EtcdCluster) => {
  const drift = driftOf('EtcdCluster', cluster);
  return drift && sayDrift(drift);
};

test('what the document says, defaults, and what is left of removed fields are no drift', () => {
  const defaults = { suspend: false, volumeRetention: keptDefaults.EtcdCluster.volumeRetention, etcd: {} };
  assert.equal(said(live(defaults)), undefined);
  assert.equal(said(live({ suspend: true })), 'spec.suspend (no manager)');
});

test('a field that was added by hand is told with its manager, beside fields of the document', () => {
  const spec = { storage: { size: '1Gi', className: 'fast' }, etcd: { snapshotCount: 9999 } };
  const entries = [
    applied,
    byHand({ 'f:etcd': { '.': {}, 'f:snapshotCount': {} } }),
    byHand({ 'f:storage': { 'f:className': {} } }, { manager: 'tuner', subresource: 'scale' }),
  ];
  assert.equal(
    said(live(spec, entries)),
    'spec.storage.className (tuner (scale)), spec.etcd.snapshotCount (kubectl-patch)',
  );
});

test('a list is one field, and the fields of a POST are those of the fleet that made the object', () => {
  const spec = { etcd: { extraArgs: ['--a', '--b'] } };
  assert.equal(said(live(spec)), 'spec.etcd.extraArgs (no manager)');
  const created = { ...ofDocument, 'f:spec': { ...ofDocument['f:spec'], 'f:etcd': { 'f:extraArgs': {} } } };
  assert.equal(said(live(spec, [byHand({}, { fieldsV1: created })])), undefined);
});

test('of an object that no fleet applied nothing is said', () => {
  assert.equal(said(live({ etcd: { snapshotCount: 1 } }, [byHand({})])), undefined);
  const { annotations: _, ...metadata } = live({ etcd: { snapshotCount: 1 } }).metadata;
  assert.equal(said({ ...live({ etcd: { snapshotCount: 1 } }), metadata } as never), undefined);
});

test('the condition names fields, managers and file, and the command that removes them', () => {
  const cluster = live({ etcd: { snapshotCount: 9 }, suspend: true }, [applied, byHand({ 'f:suspend': {} })]);
  assert.deepEqual(driftStatement({ cluster }), [
    {
      type: 'Drifted',
      status: 'True',
      reason: 'FieldsNotInGit',
      message: `live, and not set by Git: spec.etcd.snapshotCount (no manager), spec.suspend (kubectl-patch). To go on: list them in prod/orders.yaml, or remove them: kubectl -n payments patch etcdclusters.etcd.ratchet.dev orders --type=merge -p '{"spec":{"etcd":null,"suspend":null}}'`,
    },
  ]);
  assert.deepEqual(driftStatement({ cluster: live({}) }), []);
});

test('no name that a shell could take for more is in the command', () => {
  for (const name of ["x'; reboot; '", '$(reboot)', '__proto__', 'a b', '`x`']) {
    const labels = JSON.parse(`{${JSON.stringify(name)}: "x"}`);
    const cluster = live(labels);
    const drift = driftOf('EtcdCluster', cluster) ?? assert.fail(name);
    assert.equal(removalOf(drift), undefined, name);
    assert.match(driftStatement({ cluster })[0]?.message ?? '', / edit etcdclusters\.etcd\.ratchet\.dev orders$/);
    const added = driftOf('EtcdCluster', live({ podTemplate: { metadata: { labels } } })) ?? assert.fail(name);
    assert.equal(removalOf(added), '{"spec":{"podTemplate":null}}', 'what was added as a whole goes as a whole');
  }
});

test('property: any spec and any managers are told in few words, without line breaks', () => {
  const fields = fc.letrec((tie) => ({
    set: fc.dictionary(
      fc.oneof(
        fc.string().map((name) => `f:${name}`),
        fc.string(),
      ),
      tie('any'),
      { maxKeys: 4 },
    ),
    any: fc.oneof({ depthSize: 'small' }, fc.anything(), tie('set')),
  }));
  const entry = fc.record({ manager: fc.string(), fieldsV1: fields.any });
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.object({ maxDepth: 6 })),
      fc.array(entry, { maxLength: 3 }),
      (spec, some) => {
        const others = some.map((one): ManagedFields => ({ ...one, operation: 'Update' }));
        const text = said(live(spec, [applied, ...others])) ?? '';
        assert.ok(text.length < 5_000, String(text.length));
        assert.doesNotMatch(text, /[\n\r]/);
      },
    ),
  );
});

test('a spec that is deeper than any of ours is told at that depth', () => {
  const deep = Array.from({ length: 5_000 }).reduce<object>((inner) => ({ a: inner }), { a: 1 });
  assert.match(said(live({ podTemplate: deep })) ?? '', /^spec\.podTemplate(\.a){30} \(no manager\)$/);
});

test('a fleet names each object with such fields, and its commit status says it', () => {
  const ready = { observedGeneration: 1, conditions: conditions(['Ready', 'True', 'as asked']) } as never;
  const cluster = { ...live({ etcd: { snapshotCount: 9 } }), status: ready };
  assert.deepEqual(driftedAmong([cluster, live({})]), ['payments/orders: spec.etcd.snapshotCount (no manager)']);
  assert.equal(
    verdictOf(cluster).message,
    'has what Git does not list: spec.etcd.snapshotCount (no manager); as asked',
  );
  const outcome = { reading: { kind: 'unchanged', revision: 'x' }, retries: [], applied: true, changed: new Set() };
  const facts = { fleet: fleetWith(), outcome: { ...outcome, pruned: [] } as never, problems: [], clusters: [] };
  const drifted = Array.from({ length: 12 }, (_, n) => `payments/c${n}: spec.a (no manager)`);
  const told = statementsFor({ ...facts, drifted }).find(({ type }) => type === 'Drifted');
  assert.equal(told?.reason, 'FieldsNotInGit');
  assert.match(told?.message ?? '', /payments\/c0: .*; payments\/c9: spec\.a \(no manager\); and others\. List/);
  assert.equal(
    statementsFor(facts).find(({ type }) => type === 'Drifted'),
    undefined,
  );
});
