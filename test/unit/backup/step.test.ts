import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Event, Job, Pod } from '../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { firstSteps, stepAndWait } from '../../../reconcile/stepping/loop.ts';
import { createFakeKube, type FakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { offerNamed } from '../../support/fakes/offered.ts';
import { kindContext } from '../../support/kind-context.ts';
import { contextFor, fresh, live, runJobs } from './run-jobs.ts';
import { backupWith, serving, uid } from './scene.ts';

const signal = AbortSignal.timeout(60_000);
const namespace = 'default';

function backupContext(kube: FakeKube, more: Parameters<typeof kindContext>[0] = { kube }) {
  const context = kindContext({ ...more, kube, namespace });
  context.lists.keep('cluster', { items: [serving], resourceVersion: '1' });
  return context;
}

function isWrite({ key }: FakeRequest): boolean {
  return /^(POST|PUT|DELETE)/.test(key);
}

test('a backup is taken, verified, and then at rest: no request more', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh());
  const backup = await live(kube);
  assert.equal(backup?.status?.conditions?.[0]?.reason, 'Verified');
  const before = kube.journal().length;
  await firstSteps('backup', kinds.backup, backupContext(kube));
  assert.deepEqual(
    kube
      .journal()
      .slice(before)
      .map(({ key }) => key),
    ['LIST etcdbackups'],
  );
});

for (const when of ['before', 'after'] as const) {
  test(`an invocation that ends ${when} any of its writes costs no second Job`, async () => {
    let writes = Number.POSITIVE_INFINITY;
    for (let death = 0; death < writes; death++) {
      let seen = 0;
      const die = (request: FakeRequest) => {
        if (isWrite(request) && seen++ === death) throw new Error('it died here');
      };
      const kube = createFakeKube({ [when]: die });
      kube.seed(resources.backups, fresh());
      const backup = await live(kube);
      assert.equal(backup?.status?.conditions?.[0]?.reason, 'Verified', `death at write ${death}`);
      assert.deepEqual(
        kube
          .stored<Job>(resources.jobs)
          .map(({ metadata }) => metadata.name)
          .toSorted(),
        ['orders-before-upgrade-take-1', 'orders-before-upgrade-verify-1'],
        `death at write ${death}`,
      );
      writes = seen;
    }
    assert.ok(writes >= 7, `${writes} writes`);
  });
}

test('of two invocations at once, one makes the Job, and both tell of it', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh());
  const backups = kube.stored<EtcdBackup>(resources.backups);
  const [one, other] = await Promise.all([
    stepBackups(backups, contextFor(kube)),
    stepBackups(backups, contextFor(kube)),
  ]);
  assert.deepEqual([one[0]?.outcome, other[0]?.outcome].toSorted(), ['acted', 'lost']);
  assert.equal(kube.stored(resources.jobs).length, 1);
  const job = kube.stored<Job>(resources.jobs)[0];
  const status = kube.stored<EtcdBackup>(resources.backups)[0]?.status;
  assert.equal(status?.attempt?.object, job?.metadata.annotations?.[annotations.object]);
});

test('a Job that the API server refuses is told, with its words, and tried again', async () => {
  let refuses = true;
  const kube = createFakeKube({ authorize: ({ key }) => !(refuses && key === 'POST jobs') });
  kube.seed(resources.backups, fresh());
  const [result] = await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  assert.deepEqual([result?.reason, result?.workRemains], ['JobRefused', true]);
  const stalled = kube
    .stored<EtcdBackup>(resources.backups)[0]
    ?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /Job orders-before-upgrade-take-1 is refused.*backup-fails\.md#a-backup\)$/s);
  refuses = false;
  assert.equal((await live(kube))?.status?.conditions?.[0]?.reason, 'Verified');
});

test('a Job that a webhook keeps from being made is told, and a person is asked after a while', async () => {
  let clock = new Date('2026-11-22T23:00:00Z');
  const away = { class: 'retryable', status: 500, reason: 'InternalError' } as const;
  const kube = createFakeKube({
    clock: () => clock,
    before: ({ key }) => {
      if (key === 'POST jobs') throw new KubeError('failed calling webhook "policy"', away);
    },
  });
  kube.seed(resources.backups, fresh());
  const conditions = async () => {
    await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
    const { status } = kube.stored<EtcdBackup>(resources.backups)[0] ?? {};
    assert.match(status?.conditions?.[0]?.message ?? '', /failed calling webhook "policy"/);
    return status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
  };
  assert.deepEqual(await conditions(), ['Ready=False JobRefused', 'Reconciling=True JobRefused']);
  clock = new Date('2026-11-22T23:20:00Z');
  assert.deepEqual(await conditions(), ['Ready=False JobRefused', 'Stalled=True JobRefused']);
});

test('where the kind is not installed, the pass goes on without backups and says so', async () => {
  const kube = createFakeKube({ serves: ({ plural }) => plural !== 'etcdbackups' });
  const said: string[] = [];
  const log = (_: object, message: string) => void said.push(message);
  assert.equal(await firstSteps('backup', kinds.backup, backupContext(kube, { kube, log })), undefined);
  assert.deepEqual(said.length, 1);
  assert.match(said[0] ?? '', /apply the CRDs and roles of this release/);
});

test('a follow-up sees a Job end by its watch, and goes on to the end', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh());
  offerNamed(kube, namespace, fresh().spec.to);
  const context = backupContext(kube, { kube, waitMs: 30_000 });
  const running = stepAndWait('backup', kinds.backup, context, signal, async () => undefined);
  const timer = setInterval(() => runJobs(kube), 20);
  const [result] = (await running.finally(() => clearInterval(timer))).results;
  assert.deepEqual([result?.reason, result?.workRemains], ['Verified', false]);
});

test('a pod that does not start, for want of a Secret, is explained by what kubelet reports', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh());
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  const job = kube.stored<Job>(resources.jobs)[0];
  const name = 'orders-before-upgrade-take-1';
  const pod: Pod = {
    metadata: {
      name: `${name}-x`,
      namespace,
      uid: 'pod-1',
      creationTimestamp: new Date(Date.now() - 60_000).toISOString(),
      labels: { 'batch.kubernetes.io/job-name': name },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: job?.metadata.uid ?? '', controller: true }],
    },
    spec: { containers: [], nodeName: 'node' },
    status: { phase: 'Pending' },
  };
  kube.seed<Pod>(resources.pods, pod);
  const event = (reason: string, note: string, uid = 'pod-1') =>
    kube.seed<Event>(resources.events, {
      metadata: { name: `${reason}-${uid}`, namespace },
      reason,
      note,
      regarding: { uid },
      eventTime: new Date().toISOString(),
    });
  event('FailedMount', 'MountVolume.SetUp failed for volume "s3-credentials": secret "nope" not found');
  event('FailedMount', "another pod's", 'other');
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  const message = () => kube.stored<EtcdBackup>(resources.backups)[0]?.status?.conditions?.[0]?.message ?? '';
  assert.match(message(), /its pod waits: FailedMount: MountVolume\.SetUp failed .*secret "nope" not found$/);
  // Once it has come, it is not told any more.
  kube.seed<Pod>(resources.pods, { ...pod, status: { phase: 'Running' } });
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  assert.doesNotMatch(message(), /FailedMount/);
});

test('a Job of another owner under the name of ours is left alone, and named', async () => {
  const kube = createFakeKube();
  const name = 'orders-before-upgrade-verify-1';
  kube.seed(resources.backups, fresh());
  kube.seed<Job>(resources.jobs, {
    metadata: { name, namespace, uid: 'foreign' },
    spec: { template: { spec: { containers: [] } } },
    status: { conditions: [] },
  });
  const stalled = await live(kube);
  assert.equal(stalled?.status?.conditions?.[0]?.reason, 'JobRefused');
  assert.match(stalled?.status?.conditions?.[0]?.message ?? '', /belongs to something else: delete it/);
  kube.remove(resources.jobs, namespace, name);
  assert.equal((await live(kube))?.status?.conditions?.[0]?.reason, 'Verified');
});

test('another Job under the name of one that failed is left alone, and the failure is told', async () => {
  const name = 'orders-before-upgrade-verify-1';
  const jobs = () => kube.stored<Job>(resources.jobs).filter((one) => one.metadata.name === name);
  const kube: FakeKube = createFakeKube({
    before: ({ key }) => {
      if (key !== 'DELETE jobs') return;
      // A person deletes it, and another one has its name, between the look and the request.
      for (const found of jobs())
        kube.seed<Job>(resources.jobs, { ...found, metadata: { name, namespace, uid: 'foreign' } });
    },
  });
  kube.seed(resources.backups, fresh());
  const step = () => stepBackups(kube.stored<EtcdBackup>(resources.backups), contextFor(kube));
  for (let steps = 0; steps < 4 && jobs().length === 0; steps += 1) {
    await step();
    if (jobs().length === 0) runJobs(kube);
  }
  const [made] = jobs();
  const ended = { exitCode: 1, reason: 'Error', message: 'panic: it does not open' };
  kube.seed<Pod>(resources.pods, {
    metadata: {
      ...{ name: `${name}-x`, namespace, uid: 'pod', labels: { 'batch.kubernetes.io/job-name': name } },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: made?.metadata.uid ?? '', controller: true }],
    },
    spec: { containers: [] },
    status: {
      initContainerStatuses: [{ name: 'etcd', ready: false, restartCount: 3, state: { terminated: ended } }],
    },
  });
  const [result] = await step();
  assert.notEqual(result?.outcome, 'failed', result?.message);
  assert.equal(result?.reason, 'Retrying');
  assert.ok(
    kube.journal().some(({ key }) => key === 'DELETE jobs'),
    'it was to be deleted',
  );
  assert.deepEqual(
    jobs().map(({ metadata }) => metadata.uid),
    ['foreign'],
  );
  const [backup] = kube.stored<EtcdBackup>(resources.backups);
  assert.equal(backup?.status?.lastFailure?.reason, 'EtcdNotStarted');
});

test('backups that a cluster asked for earlier go, but for the newest of each of its lives', async () => {
  const kube = createFakeKube();
  const upgradeOf = (name: string, day: number, status: object = {}, clusterName = 'orders'): EtcdBackup => {
    const one = backupWith({}, { clusterName });
    const ready = { type: 'Ready', status: 'True', reason: 'Verified', message: '', lastTransitionTime: '' } as const;
    const at = `2026-10-${String(day).padStart(2, '0')}T00:00:00Z`;
    const told = { observedGeneration: 1, finishedAt: at, clusterID: 'cafe', conditions: [ready], ...status };
    const marks = { labels: { [labels.wish]: 'w' }, annotations: { [annotations.beforeUpgrade]: 'w' } };
    return { ...one, metadata: { ...one.metadata, ...marks, name, uid: `uid-${name}` }, status: told };
  };
  const failed = { type: 'Ready', status: 'False', reason: 'Full', message: '', lastTransitionTime: '' };
  for (let day = 1; day <= 5; day++) {
    kube.seed(resources.backups, upgradeOf(`good-${day}`, day));
    kube.seed(resources.backups, upgradeOf(`failed-${day}`, day, { conditions: [failed] }));
  }
  kube.seed(resources.backups, upgradeOf('lost', 1, { clusterID: 'dead' }));
  kube.seed(resources.backups, upgradeOf('under-way', 1, { finishedAt: undefined }));
  kube.seed(resources.backups, upgradeOf('others', 1, {}, 'users'));
  const { status: _, ...asked } = upgradeOf('orders-before-upgrade', 6);
  kube.seed(resources.backups, { ...asked, metadata: { ...asked.metadata, uid } });
  const step = async () => {
    const found = kube.stored<EtcdBackup>(resources.backups).filter(({ metadata }) => metadata.uid === uid);
    await stepBackups(found, contextFor(kube));
    runJobs(kube);
  };
  for (let count = 0; count < 6; count++) await step();
  const left = kube.stored<EtcdBackup>(resources.backups).map(({ metadata }) => metadata.name);
  assert.deepEqual(left.toSorted(), [
    'failed-3',
    'failed-4',
    'failed-5',
    'good-4',
    'good-5',
    'lost',
    'orders-before-upgrade',
    'others',
    'under-way',
  ]);
});
