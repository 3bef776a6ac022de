import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeChains, type CronJob, followUpJob, type Job, nextLink } from '../../../functions/chain.ts';
import { followUp, isStopped } from '../../../functions/follow-up.ts';
import { resources } from '../../../reconcile/kube.ts';
import { createFakeKube } from '../../fakes/kube.ts';

const template = {
  backoffLimit: 0,
  activeDeadlineSeconds: 120,
  ttlSecondsAfterFinished: 600,
  template: {
    metadata: { labels: { app: 'x' } },
    spec: {
      serviceAccountName: 'etcd-ratchet',
      containers: [{ name: 'tick', image: 'i', args: ['--namespace', 'a'] }],
    },
  },
};
const cronJob: CronJob = {
  metadata: { name: 'etcd-ratchet', namespace: 'system', uid: 'u1' },
  spec: { suspend: false, jobTemplate: { metadata: { labels: { app: 'x' } }, spec: template } },
};
const now = new Date('2026-05-01T10:00:00Z');

function job(chain: string, { minutesOld = 0, finished = false, leaving = false } = {}): Job {
  return {
    metadata: {
      name: `etcd-ratchet-${chain}-1`,
      namespace: 'system',
      creationTimestamp: new Date(now.getTime() - minutesOld * 60_000).toISOString(),
      labels: { 'etcd.ratchet.dev/follow-up': 'true', 'etcd.ratchet.dev/chain': chain },
      ...(leaving && { deletionTimestamp: now.toISOString() }),
    },
    status: { conditions: finished ? [{ type: 'Complete', status: 'True' }] : [] },
  };
}

test('a follow-up is the tick itself, with its place in the chain as one more argument', () => {
  const made = followUpJob(cronJob, { chain: 'abc', number: 2 });
  assert.equal(made.metadata.name, 'etcd-ratchet-abc-2');
  assert.partialDeepStrictEqual(made, {
    metadata: { namespace: 'system', labels: { app: 'x', 'etcd.ratchet.dev/chain': 'abc' } },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: 120,
      ttlSecondsAfterFinished: 60,
      template: {
        metadata: { labels: { app: 'x' } },
        spec: {
          serviceAccountName: 'etcd-ratchet',
          containers: [{ name: 'tick', image: 'i', args: ['--namespace', 'a', '--follow-up=abc.2'] }],
        },
      },
    },
  });
  const [owner] = made.metadata.ownerReferences ?? [];
  assert.equal(owner?.uid, 'u1');
  assert.equal(owner?.controller, undefined, 'the CronJob controller would count it in its history');
});

test('its name stays within what a label holds, however long the name of the CronJob', () => {
  const long = { ...cronJob, metadata: { ...cronJob.metadata, name: 'x'.repeat(52) } };
  assert.ok(followUpJob(long, { chain: '0123456789', number: 999_999 }).metadata.name.length <= 63);
});

test('a finished, leaving or stale Job does not stand for its chain', () => {
  const jobs = [job('a'), job('b', { finished: true }), job('c', { leaving: true }), job('d', { minutesOld: 10 })];
  assert.deepEqual([...activeChains(jobs, now)], ['a']);
});

for (const [title, link, active, expected] of [
  ['a tick starts a chain', undefined, [], { chain: 'new', number: 1 }],
  ['a tick starts none beside another', undefined, ['a'], undefined],
  ['a chain continues itself', { chain: 'b', number: 3 }, ['b'], { chain: 'b', number: 4 }],
  ['of two chains the lower continues', { chain: 'a', number: 3 }, ['a', 'b'], { chain: 'a', number: 4 }],
  ['of two chains the higher ends', { chain: 'b', number: 3 }, ['a', 'b'], undefined],
] as const) {
  test(title, () =>
    assert.deepEqual(
      nextLink(link, new Set(active), () => 'new'),
      expected,
    ),
  );
}

function context(kube: ReturnType<typeof createFakeKube>, link?: { chain: string; number: number }) {
  const { signal } = new AbortController();
  return {
    kube,
    cronJob: { namespace: 'system', name: 'etcd-ratchet' },
    newChain: () => 'new',
    signal,
    ...(link && { link }),
  };
}

test('the same link made twice is one Job', async () => {
  const kube = createFakeKube();
  kube.seed(resources.cronJobs, cronJob);
  const link = { chain: 'abc', number: 1 };
  assert.deepEqual(await followUp(context(kube, link)), { kind: 'created', job: 'etcd-ratchet-abc-2' });
  assert.deepEqual(await followUp(context(kube, link)), { kind: 'created', job: 'etcd-ratchet-abc-2' });
  assert.equal(kube.stored(resources.jobs).length, 1);
});

test('a follow-up is stopped when its CronJob is suspended, or gone', async () => {
  const kube = createFakeKube();
  const { signal } = new AbortController();
  const where = { namespace: 'system', name: 'etcd-ratchet' };
  assert.equal(await isStopped(kube, where, signal), true);
  kube.seed(resources.cronJobs, cronJob);
  assert.equal(await isStopped(kube, where, signal), false);
  kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  assert.equal(await isStopped(kube, where, signal), true);
});

test('a suspended CronJob, or none, has no follow-ups', async () => {
  const kube = createFakeKube();
  assert.equal((await followUp(context(kube))).kind, 'none');
  kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  assert.deepEqual(await followUp(context(kube)), {
    kind: 'none',
    because: 'CronJob system/etcd-ratchet is suspended',
  });
  assert.equal(kube.stored(resources.jobs).length, 0);
});
