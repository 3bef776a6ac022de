import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CronJob, followUpJob, jobOf } from '../../../functions/pass/follow-up/chain.ts';
import { followUp } from '../../../functions/pass/follow-up/follow-up.ts';
import { goOn } from '../../../functions/pass/follow-up/go-on.ts';
import { shardFor } from '../../../functions/pass/shard.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { slotOf } from '../../../reconcile/stepping/shard.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

const now = new Date('2026-11-30T12:00:00Z');
const cronJob = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };

interface Past {
  /** Seconds ago. */
  readonly age: number;
  readonly completed?: string;
  readonly isOver?: boolean;
  readonly completions?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
}

function job({ age, completed, isOver = true, completions = 4, labels = {}, owner = 'cron' }: Past): KubeObject {
  const spec = { completionMode: 'Indexed', completions };
  const conditions = isOver ? [{ type: 'Failed', status: 'True' }] : [];
  return {
    metadata: {
      ...{ namespace: cronJob.namespace, name: `tick-${age}-${completed}`, uid: `${age}` },
      creationTimestamp: new Date(now.getTime() - age * 1000).toISOString(),
      labels: { 'app.kubernetes.io/name': 'etcd-ratchet', ...labels },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob.name, uid: owner }],
    },
    ...{ spec, status: { conditions, ...(completed !== undefined && { completedIndexes: completed }) } },
  } as KubeObject;
}

/** Of a pod with that index, of a CronJob with four completions. */
async function shardIn(past: readonly Past[], index = '1', completions = 4, pods: readonly KubeObject[] = []) {
  const kube = createFakeKube({ clock: () => now });
  const spec = { jobTemplate: { spec: { completionMode: 'Indexed', completions } } };
  kube.seed(resources.cronJobs, { metadata: { ...cronJob, uid: 'cron' }, spec } as KubeObject);
  kube.seed(resources.jobs, ...past.map(job));
  kube.seed(resources.pods, ...pods);
  const told: string[] = [];
  const log = (_: object, text: string) => void told.push(text);
  const env = { JOB_COMPLETION_INDEX: index };
  const shard = await shardFor({}, { kube, env, cronJob, log, signal: AbortSignal.timeout(9_000) });
  return { shard, told };
}

describe('the share of an invocation', () => {
  test('is that of its index, of as many as the CronJob has completions', async () => {
    assert.deepEqual(await shardIn([]), { shard: { index: 1, of: 4, missing: [] }, told: [] });
  });

  test('is none where the CronJob has fewer by now', async () => {
    assert.equal((await shardIn([], '1', 1)).shard, 'surplus');
  });

  test('is of 256 at most: what is beyond is none', async () => {
    assert.deepEqual((await shardIn([], '0', 300)).shard, { index: 0, of: 256, missing: [] });
    assert.equal((await shardIn([], '299', 300)).shard, 'surplus');
  });

  test('is all where nothing says that it shares a pass', async () => {
    const kube = createFakeKube();
    const context = { kube, log: () => undefined, signal: AbortSignal.timeout(9_000) };
    assert.equal(await shardFor({}, { ...context, env: {}, cronJob }), undefined);
    assert.equal(await shardFor({}, { ...context, env: { JOB_COMPLETION_INDEX: '1' }, cronJob: undefined }), undefined);
    const shard = { index: 0, of: 2 };
    assert.deepEqual(await shardFor({ shard }, { ...context, env: {}, cronJob: undefined }), { ...shard, missing: [] });
    assert.deepEqual(kube.journal(), []);
  });
});

const both = (one: Partial<Past>, other: Partial<Past> = one): readonly Past[] => [
  { age: 70, ...one },
  { age: 130, ...other },
];

for (const [what, past, missing] of [
  ['that ended in neither of the last two passes', both({ completed: '0-1,3' }), [2]],
  ['that ended in one of the last two', both({ completed: '0-1,3' }, { completed: '0-3' }), []],
  ['where there was one pass', [{ age: 70, completed: '0' }], []],
  ['of passes that none ended', both({}), [0, 1, 2, 3]],
  ['of older passes', [...both({ completed: '0-3' }), { age: 190, completed: '0' }, { age: 250, completed: '0' }], []],
  ['of a pass that still runs', [{ age: 20, isOver: false }, ...both({ completed: '0' }, { completed: '0-3' })], []],
  ['of a pass that should long have ended', both({ completed: '0', isOver: false }), [1, 2, 3]],
  ['of another number of shards', both({ completed: '0', completions: 2 }), []],
  ['of what goes on with a pass', both({ completed: '0', labels: { 'etcd.ratchet.dev/follow-up': 'true' } }), []],
  ['of Jobs of others', both({ completed: '0', owner: 'other' }), []],
] as const satisfies readonly (readonly [string, readonly Past[], readonly number[]])[])
  test(`${missing.length > 0 ? 'missing is what' : 'nothing is missing'} ${what}`, async () => {
    const { shard, told } = await shardIn(past);
    assert.deepEqual(shard, { index: 1, of: 4, missing });
    assert.equal(told.length, missing.length > 0 ? 1 : 0);
  });

const shared = {
  metadata: { ...cronJob, uid: 'cron' },
  spec: {
    jobTemplate: {
      spec: {
        ...{
          completionMode: 'Indexed',
          completions: 4,
          parallelism: 256,
          backoffLimitPerIndex: 0,
          maxFailedIndexes: 256,
        },
        activeDeadlineSeconds: 120,
        template: { spec: { containers: [{ args: ['--namespace', 'a'] }] } },
      },
    },
  },
} as const satisfies CronJob;

test('what goes on with a shard is a Job of one pod, which is told its share', () => {
  const { metadata, spec } = followUpJob(shared, { chain: 'abc', number: 1 }, { index: 2, of: 4, missing: [0] });
  assert.equal(metadata.labels?.['etcd.ratchet.dev/shard'], '2-of-4');
  assert.deepEqual(spec, {
    ...{ activeDeadlineSeconds: 120, backoffLimit: 2, ttlSecondsAfterFinished: 60 },
    template: { spec: { containers: [{ args: ['--namespace', 'a', '--follow-up=abc.1', '--shard=2/4'] }] } },
  });
  const named = jobOf(shared, { suffix: 'x', labels: {}, args: ['--cluster=a/b'] }).spec;
  assert.deepEqual(Object.keys(named).toSorted(), [
    ...['activeDeadlineSeconds', 'backoffLimit', 'template', 'ttlSecondsAfterFinished'],
  ]);
});

test('each shard has a chain of its own', async () => {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.cronJobs, shared as unknown as KubeObject);
  const made = async (index: number | undefined, isNew: boolean) => {
    const shard = index === undefined ? undefined : { index, of: 4, missing: [] };
    const newChain = () => `chain${index ?? 'whole'}`;
    return (await followUp({ kube, cronJob, shard, isNew, newChain, signal: AbortSignal.timeout(9_000) })).kind;
  };
  for (const index of [0, 1]) assert.equal(await made(index, false), 'created');
  for (const index of [0, 1]) assert.equal(await made(index, false), 'under-way');
  assert.equal(await made(undefined, true), 'shared');
  assert.equal(await made(1, true), 'created');
  const names = kube.stored<KubeObject>(resources.jobs).map(({ metadata }) => metadata.name);
  assert.deepEqual(names.toSorted(), [...['etcd-ratchet-chain0-1', 'etcd-ratchet-chain1-1', 'etcd-ratchet-chain1-2']]);
});

function endedPod(index: number, exitCode: number): KubeObject {
  const finishedAt = new Date(now.getTime() - 60_000).toISOString();
  const labels = {
    ...{ 'app.kubernetes.io/name': 'etcd-ratchet', 'batch.kubernetes.io/job-completion-index': `${index}` },
  };
  const containerStatuses = [{ state: { terminated: { exitCode, finishedAt } } }];
  return {
    metadata: { namespace: cronJob.namespace, name: `tick-${index}`, labels },
    status: { phase: 'Failed', containerStatuses },
  } as KubeObject;
}

test('what a shard leaves that ended without a word is taken by none: it would end them as well', async () => {
  const past = both({ completed: '0-1' });
  const { shard, told } = await shardIn(past, '1', 4, [endedPod(2, 137), endedPod(3, 1)]);
  assert.deepEqual(shard, { index: 1, of: 4, missing: [3] });
  assert.equal(told.length, 1);
});

test('another number of shards has chains of its own', async () => {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.cronJobs, shared as unknown as KubeObject);
  const made = async (of: number) => {
    const context = { kube, cronJob, newChain: () => `chain${of}`, signal: AbortSignal.timeout(9_000), isNew: false };
    return (await followUp({ ...context, shard: { index: 3, of, missing: [] } })).kind;
  };
  assert.deepEqual([await made(8), await made(4), await made(8)], ['created', 'created', 'under-way']);
});

test('what an invocation leaves that has no share is gone on with by the shards whose it is', async () => {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.cronJobs, shared as unknown as KubeObject);
  const one = (namespace: string, workRemains: boolean) => ({ namespace, name: 'orders', workRemains });
  const clusters = [one('shop', true), one('payments', false)];
  const around = { kube, env: {}, cronJob, log: () => undefined, signal: AbortSignal.timeout(9_000), isNew: true };
  const link = { chain: 'whole', number: 7 };
  assert.equal(await goOn({ clusters }, { ...around, link }), true);
  assert.equal(await goOn({ clusters: clusters.slice(1) }, around), true, 'the next pass has it');
  const made = kube
    .stored<KubeObject>(resources.jobs)
    .map(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/shard']);
  assert.deepEqual(made, [`${Math.floor((slotOf('namespace shop') * 4) / 256)}-of-4`]);
});
