import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CronJob, followUpJob, jobOf } from '../../../functions/pass/follow-up/chain.ts';
import { followUp } from '../../../functions/pass/follow-up/follow-up.ts';
import { shardFor } from '../../../functions/pass/shard.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
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
async function shardIn(past: readonly Past[], index = '1', completions = 4) {
  const kube = createFakeKube({ clock: () => now });
  const spec = { jobTemplate: { spec: { completions } } };
  kube.seed(resources.cronJobs, { metadata: { ...cronJob, uid: 'cron' }, spec } as KubeObject);
  kube.seed(resources.jobs, ...past.map(job));
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
  assert.equal(metadata.labels?.['etcd.ratchet.dev/shard'], '2');
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
  for (const index of [0, 1, undefined]) assert.equal(await made(index, false), 'created');
  for (const index of [0, 1, undefined]) assert.equal(await made(index, false), 'under-way');
  assert.equal(await made(1, true), 'created');
  const names = kube.stored<KubeObject>(resources.jobs).map(({ metadata }) => metadata.name);
  assert.deepEqual(names.toSorted(), [
    ...['etcd-ratchet-chain0-1', 'etcd-ratchet-chain1-1', 'etcd-ratchet-chain1-2', 'etcd-ratchet-chainwhole-1'],
  ]);
});
