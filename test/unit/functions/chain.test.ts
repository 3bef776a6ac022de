import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ChainLink,
  type CronJob,
  followUpJob,
  isActive,
  type Job,
  linksOf,
  nextLink,
  supersedes,
} from '../../../functions/pass/follow-up/chain.ts';
import { followUp, isStopped, standingOf } from '../../../functions/pass/follow-up/follow-up.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

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

function job(chain: string, { number = 1, minutesOld = 0, finished = false, leaving = false } = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `etcd-ratchet-${chain}-${number}`,
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
      backoffLimit: 2,
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
  assert.deepEqual(linksOf(jobs.filter((one) => isActive(one, now))), [{ chain: 'a', number: 1 }]);
});

test('a Job that is no link of a chain is not taken for one', () => {
  const odd = (name: string, labels: Record<string, string>) => ({ metadata: { name, namespace: 'system', labels } });
  const chain = { 'etcd.ratchet.dev/chain': 'a' };
  assert.deepEqual(linksOf([odd('etcd-ratchet-a-7', {}), odd('etcd-ratchet-a-x', chain), odd('a-7', chain)]), []);
});

const a = (number: number) => ({ chain: 'a', number });
const b = (number: number) => ({ chain: 'b', number });

for (const [title, active, known, expected] of [
  ['the first link starts a chain', [], [b(3)], { chain: 'new', number: 1 }],
  ['the next link comes after the one under way', [b(3)], [b(3)], b(4)],
  ['the next link comes after all that there are, finished ones too', [b(3)], [b(3), b(5)], b(6)],
  ['of two chains the lower goes on', [b(7), a(3)], [b(7), a(3)], a(4)],
] as const) {
  test(title, () =>
    assert.deepEqual(
      nextLink(active, known, () => 'new'),
      expected,
    ),
  );
}

test('of two links of a chain the later one supersedes, of two chains the lower one', () => {
  assert.deepEqual([supersedes(a(2), a(1)), supersedes(a(1), a(2)), supersedes(a(1), a(1))], [true, false, false]);
  assert.deepEqual([supersedes(a(1), b(9)), supersedes(b(9), a(1))], [true, false]);
});

function context(
  kube: ReturnType<typeof createFakeKube>,
  { link = undefined as ChainLink | undefined, isNew = true } = {},
) {
  const { signal } = new AbortController();
  const cronJob = { namespace: 'system', name: 'etcd-ratchet' };
  return { kube, cronJob, newChain: () => 'new', signal, isNew, link };
}

function installed(...jobs: readonly Job[]) {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.cronJobs, cronJob);
  kube.seed(resources.jobs, ...jobs);
  return kube;
}

const jobNames = (kube: ReturnType<typeof createFakeKube>) =>
  kube.stored<Job>(resources.jobs).map(({ metadata }) => metadata.name.replace('etcd-ratchet-', ''));

test('what is new gets a follow-up of its own, also while one is under way', async () => {
  const kube = installed(job('abc', { number: 4 }));
  assert.deepEqual(await followUp(context(kube)), { kind: 'created', job: 'etcd-ratchet-abc-5' });
});

test('what is not new is left to the follow-up that is under way', async () => {
  const kube = installed(job('abc', { number: 4 }));
  assert.deepEqual(await followUp(context(kube, { isNew: false })), { kind: 'under-way' });
  const link = { chain: 'abc', number: 3 };
  assert.deepEqual(await followUp(context(kube, { isNew: false, link })), { kind: 'under-way' });
});

test('a follow-up that waits on makes the next one, and no other invocation does', async () => {
  const kube = installed(job('abc', { number: 4 }));
  const link = { chain: 'abc', number: 4 };
  assert.equal((await followUp(context(kube, { isNew: false, link }))).kind, 'created');
  assert.deepEqual(jobNames(kube), ['abc-4', 'abc-5']);
});

test('a follow-up that is dead, or has ended, is not waited for', async () => {
  for (const state of [{ finished: true }, { leaving: true }, { minutesOld: 10 }]) {
    const kube = installed(job('abc', state));
    assert.equal((await followUp(context(kube, { isNew: false }))).kind, 'created');
  }
});

test('a follow-up made since our list looks later than we did: it is taken for ours', async () => {
  const kube = installed(job('abc', { number: 4 }));
  let made = false;
  const racing = {
    ...kube,
    create: async (...args: Parameters<typeof kube.create>) => {
      if (!made) kube.seed(resources.jobs, job('abc', { number: 5 }));
      made = true;
      return kube.create(...args);
    },
  } as typeof kube;
  assert.deepEqual(await followUp(context(racing)), { kind: 'created', job: 'etcd-ratchet-abc-5' });
  assert.deepEqual(jobNames(kube), ['abc-4', 'abc-5']);
});

test('a follow-up goes on until a later one is under way, or the CronJob is suspended, or gone', async () => {
  const kube = installed(job('abc', { number: 4 }), job('abc', { number: 5, finished: true }));
  const asked = () => standingOf(context(kube, { link: { chain: 'abc', number: 4 } }));
  assert.equal(await asked(), 'on');
  kube.seed(resources.jobs, job('abc', { number: 6 }));
  assert.equal(await asked(), 'superseded');
  kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  assert.equal(await asked(), 'stopped');
  kube.remove(resources.cronJobs, 'system', 'etcd-ratchet');
  assert.equal(await asked(), 'stopped');
});

test('a follow-up that a person started is stopped with the CronJob, and never superseded', async () => {
  const kube = installed(job('abc'));
  assert.equal(await standingOf(context(kube)), 'on');
  kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  assert.equal(await standingOf(context(kube)), 'stopped');
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
