import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { contextFor, fresh, live, runJobs } from './run-jobs.ts';

/** What a drill was restored to, on a volume of a StorageClass. */

const spec = { scratch: { storageClassName: 'fast' } };

/** Without the volume on which the backups are. */
const namesOf = (kube: FakeKube, kind: 'jobs' | 'volumeClaims') =>
  kube.stored(resources[kind]).flatMap(({ metadata: { name } }) => (name === 'backups' ? [] : [name]));

function stored(kube: FakeKube): EtcdBackup {
  return kube.stored<EtcdBackup>(resources.backups)[0] ?? assert.fail('the backup is gone');
}

test('the volume of a drill goes once the result is recorded, and the result stays', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh(spec));
  const { status } = (await live(kube)) ?? {};
  assert.equal(status?.conditions?.[0]?.reason, 'Verified');
  assert.equal(status?.verified?.revision, 45);
  assert.equal(status?.settled, true);
  assert.deepEqual(namesOf(kube, 'volumeClaims'), []);
  assert.deepEqual(namesOf(kube, 'jobs'), ['orders-before-upgrade-take-1']);
});

for (const when of ['before', 'after'] as const) {
  test(`no volume is left by an invocation that ends ${when} any of its writes`, async () => {
    let writes = Number.POSITIVE_INFINITY;
    for (let death = 0; death < writes; death++) {
      let seen = 0;
      const die = ({ key }: FakeRequest) => {
        if (/^(POST|PUT|DELETE)/.test(key) && seen++ === death) throw new Error('it died here');
      };
      const kube = createFakeKube({ [when]: die });
      kube.seed(resources.backups, fresh(spec));
      const backup = await live(kube);
      assert.equal(backup?.status?.conditions?.[0]?.reason, 'Verified', `death at write ${death}`);
      assert.equal(backup?.status?.attempt?.number, 1, `death at write ${death}`);
      assert.deepEqual(namesOf(kube, 'volumeClaims'), [], `death at write ${death}`);
      writes = seen;
    }
    assert.ok(writes >= 9, `${writes} writes`);
  });
}

/** The drill's pod ends, and says this. */
function breakDrill(kube: FakeKube, message: string): void {
  const [pod] = kube.stored<Pod>(resources.pods).filter(({ metadata }) => metadata.name.includes('-verify-'));
  const job = kube.stored<Job>(resources.jobs).find(({ metadata }) => metadata.name.includes('-verify-'));
  assert.ok(pod && job);
  const condition = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' } as const;
  kube.seed<Job>(resources.jobs, { ...job, status: { conditions: [condition] } });
  const ended = { name: 'compare', ready: false, restartCount: 0, state: { terminated: { exitCode: 1, message } } };
  kube.seed<Pod>(resources.pods, { ...pod, status: { containerStatuses: [ended] } });
}

async function stepUntilDrill(kube: FakeKube): Promise<void> {
  const step = async () => stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  for (let count = 0; count < 6 && !namesOf(kube, 'jobs').some((name) => name.includes('-verify-')); count++) {
    await step();
    runJobs(kube);
  }
}

test('the volume of a drill that failed and is tried again goes once its failure is told', async () => {
  let clock = new Date('2026-11-22T23:00:00Z');
  const kube = createFakeKube({ clock: () => clock });
  kube.seed(resources.backups, fresh(spec));
  await stepUntilDrill(kube);
  breakDrill(kube, JSON.stringify({ ok: false, reason: 'Unreachable', message: 'no route' }));
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  kube.collectGarbage();
  assert.equal(stored(kube).status?.lastFailure?.reason, 'Unreachable');
  assert.deepEqual(namesOf(kube, 'volumeClaims'), []);
  clock = new Date('2026-11-22T23:05:00Z');
  const { status } = (await live(kube)) ?? {};
  assert.deepEqual([status?.attempt?.number, status?.settled], [2, true]);
  assert.deepEqual(namesOf(kube, 'volumeClaims'), []);
});

test("another's Job under the name of a drill is left alone", async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh(spec));
  await live(kube);
  const { status, ...backup } = stored(kube);
  const name = 'orders-before-upgrade-verify-1';
  kube.seed<Job>(resources.jobs, {
    metadata: { name, namespace: 'default', uid: 'foreign' },
    spec: { template: { spec: { containers: [] } } },
  });
  kube.seed<EtcdBackup>(resources.backups, { ...backup, status: { ...status, observedGeneration: 1, settled: false } });
  await live(kube);
  assert.equal(stored(kube).status?.settled, true);
  assert.ok(namesOf(kube, 'jobs').includes(name));
});

test('what an earlier release left without the mark is marked, once', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh(spec));
  await live(kube);
  const { status, ...backup } = stored(kube);
  const { settled: _, ...unmarked } = status ?? { observedGeneration: 1 };
  kube.seed<EtcdBackup>(resources.backups, { ...backup, status: unmarked });
  const before = kube.journal().length;
  await live(kube);
  assert.equal(stored(kube).status?.settled, true);
  const keys = kube.journal().slice(before);
  assert.deepEqual(
    keys.map(({ key }) => key),
    ['GET jobs', 'PUT etcdbackups/status'],
  );
});
