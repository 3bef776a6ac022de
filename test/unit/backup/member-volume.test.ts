import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Job, PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { forBackupsLabels } from '../../../manifests/render/offers.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { planFleet } from '../../../reconcile/fleet/plan.ts';
import type { DesiredSpec } from '../../../reconcile/fleet/reading.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { fleetWith, revision, specOf, treeOf } from '../fleet/objects.ts';
import { contextFor, fresh, runJobs } from './run-jobs.ts';

/** A backup that were written into the volume of a member would be among the data of etcd. */

const object = (claim: string) => `pvc://${claim}/{{cluster}}/{{timestamp}}.db`;
const bound = { accessModes: ['ReadWriteOnce'], resources: {} };

function seedClaim(kube: FakeKube, name: string, metadata: Partial<PersistentVolumeClaim['metadata']> = {}): void {
  kube.seed<PersistentVolumeClaim>(resources.volumeClaims, {
    metadata: { name, namespace: 'default', labels: forBackupsLabels, ...metadata },
    spec: bound,
  });
}

async function step(kube: FakeKube): Promise<EtcdBackup['status']> {
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  return kube.stored<EtcdBackup>(resources.backups)[0]?.status;
}

const labelled = { labels: { 'app.kubernetes.io/managed-by': 'etcd-ratchet', 'etcd.ratchet.dev/cluster': 'gone' } };
const remembering = { annotations: { 'etcd.ratchet.dev/token': 't' } };

for (const [what, claim, metadata] of [
  ['a member of a cluster, by its name', 'orders-1', {}],
  ['a member that is still to come', 'orders-7', undefined],
  ['a member of a cluster that is gone, by its labels', 'kept', labelled],
  ['a member whose labels were lost, by what it remembers', 'kept', remembering],
] as const)
  test(`no Job mounts the volume of ${what}`, async () => {
    const kube = createFakeKube();
    kube.seed(resources.backups, fresh({ to: { object: object(claim) } }));
    if (metadata) seedClaim(kube, claim, metadata);
    const status = await step(kube);
    assert.equal(status?.conditions?.[0]?.reason, 'MemberVolume');
    assert.match(
      status?.conditions?.[0]?.message ?? '',
      new RegExp(`PersistentVolumeClaim ${claim} .*To go on: create`),
    );
    assert.equal(status?.settled, true);
    assert.deepEqual(kube.stored(resources.jobs), []);
  });

for (const claim of ['backups', 'orders-01', 'orders-x-1', 'orders', 'users-0'])
  test(`a volume named ${claim} takes backups`, async () => {
    const kube = createFakeKube();
    kube.seed(resources.backups, fresh({ to: { object: object(claim) } }));
    seedClaim(kube, claim);
    assert.equal((await step(kube))?.conditions?.[0]?.reason, 'Taking');
  });

test("a Job whose volume became a member's while it waited for it is given up", async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh({ to: { object: object('late') } }));
  assert.equal((await step(kube))?.conditions?.[0]?.reason, 'Taking');
  seedClaim(kube, 'late', labelled);
  assert.equal((await step(kube))?.conditions?.[0]?.reason, 'MemberVolume');
  assert.deepEqual(kube.stored<Job>(resources.jobs), []);
});

test('what is stored on such a volume is not mounted to be verified, either', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh({ to: { object: object('late') } }));
  await step(kube);
  runJobs(kube);
  seedClaim(kube, 'late', labelled);
  await step(kube);
  assert.ok(!kube.journal().some(({ key, name }) => key === 'POST jobs' && name?.includes('verify')));
  assert.ok(!kube.stored<Job>(resources.jobs).some(({ metadata }) => metadata.name.includes('verify')));
});

const cluster = specOf('orders');

function document(kind: string, spec: object, name = 'it'): DesiredSpec {
  const { namespace } = cluster;
  return { ...cluster, kind, name, object: { metadata: { name, namespace }, spec } };
}

const refusedIn = (spec: DesiredSpec, clusters: readonly EtcdCluster[] = []) =>
  planFleet({
    fleet: fleetWith(),
    fleets: [fleetWith()],
    clusters,
    revision,
    tree: treeOf([cluster, spec]),
  }).problems.map(({ message }) => message);

for (const [kind, spec, field] of [
  ['EtcdBackup', { to: { object: object('orders-2') } }, 'to.object'],
  ['EtcdBackupSchedule', { template: { to: { object: object('orders-0') } } }, 'template.to.object'],
  ['EtcdRestore', { from: { object: 'pvc://orders-0/a.db' }, cluster: { name: 'new' } }, 'from.object'],
  ['EtcdRestore', { from: { object: 'pvc://new-0/a.db' }, cluster: { name: 'new' } }, 'from.object'],
  ['EtcdCluster', { backup: { to: { object: object('orders-0') } } }, 'backup.to.object'],
  ['EtcdCluster', { bootstrap: { snapshot: { object: 'pvc://it-0/a.db' } } }, 'bootstrap.snapshot.object'],
  ['EtcdCluster', { rollback: { snapshot: { object: 'pvc://orders-0/a.db' } } }, 'rollback.snapshot.object'],
] as const)
  test(`an ${kind} in Git is refused whose ${field} is on ${JSON.stringify(spec).match(/pvc:..[^/]*/)}`, () => {
    const [message, ...more] = refusedIn(document(kind, spec));
    assert.match(message ?? '', new RegExp(`^spec[.]${field}: PersistentVolumeClaim .* EtcdCluster (orders|new|it):`));
    assert.deepEqual(more, []);
  });

test('a volume of the same name elsewhere is no refusal, and neither is what was read at birth', () => {
  const elsewhere = { ...document('EtcdBackup', { to: { object: object('orders-0') } }), namespace: 'elsewhere' };
  assert.deepEqual(refusedIn(elsewhere), []);
  const born = document('EtcdCluster', { bootstrap: { snapshot: { object: 'pvc://orders-0/a.db' } } }, 'born');
  const live = { metadata: { name: 'born', namespace: born.namespace, uid: 'b' } } as EtcdCluster;
  assert.deepEqual(refusedIn(born, [live]), []);
});
