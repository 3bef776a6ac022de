import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaveWork } from '../../../functions/pass/follow-up/leave-work.ts';
import { pass } from '../../../functions/pass/pass.ts';
import type { PassContext, PassNews } from '../../../functions/pass/pass-context.ts';
import { planPass } from '../../../functions/pass/plan-pass.ts';
import { render } from '../../../functions/tick/output.ts';
import { renderPlans } from '../../../functions/tick/plan-output.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { unitOf } from '../../../reconcile/fleet/unit.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import type { Kind } from '../../../reconcile/stepping/kind.ts';
import type { StepResult } from '../../../reconcile/stepping/result.ts';
import { createFakeKube, type FakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import { cronJob, env, namespace } from '../serve/installation.ts';

/** A kind that only this test knows: a row, and what steps it. Nothing of functions/ names it. */

const toys: Resource = { apiVersion: 'example.com/v1', kind: 'Toy', plural: 'toys' };
const label = 'example.com/toy';

async function stepToys(items: readonly KubeObject[], kube: FakeKube): Promise<readonly StepResult[]> {
  return items.map(({ metadata }) => {
    const jobs = kube.stored<Job>(resources.jobs);
    const isDone = jobs.some((job) => job.metadata.labels?.[label] === metadata.name && job.status?.conditions);
    const { name, namespace: of = '' } = metadata;
    return {
      namespace: of,
      name,
      reason: isDone ? 'Played' : 'Playing',
      message: isDone ? 'its Job is over' : 'its Job runs',
      outcome: isDone ? 'acted' : 'none',
      workRemains: !isDone,
    };
  });
}

const tomorrow = new Date('2030-01-02T00:00:00Z');

function tableFor(kube: FakeKube) {
  const toy: Kind<KubeObject, StepResult> = {
    scope: 'whole',
    after: { cluster: 'toys are played with when all work is done' },
    units: (items) => items.map(unitOf),
    lister:
      ({ kube: api, namespace: of, signal }) =>
      () =>
        api.list(toys, { namespace: of, signal }),
    step: (items) => stepToys(items, kube),
    problem: () => 'toys were not looked at',
    waits: {
      wakesOn: (results) =>
        results.map(({ namespace: of, name }) => ({ key: `${of}/${name}`, wakes: [{ on: 'change', of: 'jobs' }] })),
      isAwaited: () => true,
      label,
      again: 'woken',
    },
    next: (results) => (results.length > 0 ? tomorrow : undefined),
    shown: { as: 'toys', label: 'toy', metric: 'toy', data: (result) => result },
    plan: async () => [{ data: { name: 'ball' }, title: 'toy ball  would be played with', lines: ['1. throw it'] }],
  };
  return { ...kinds, toy };
}

function stage(options: FakeKubeOptions = {}) {
  const kube = createFakeKube(options);
  kube.seed(resources.cronJobs, cronJob);
  kube.seed(toys, { metadata: { name: 'ball', namespace, uid: 'ball' } });
  return { kube, table: tableFor(kube) };
}

async function isWatched(kube: FakeKube): Promise<void> {
  while (!kube.journal().some(({ verb }) => verb === 'WATCH')) await new Promise((resolve) => setImmediate(resolve));
}

async function endJob(kube: FakeKube): Promise<void> {
  await isWatched(kube);
  kube.seed<Job>(resources.jobs, {
    metadata: { name: 'play', namespace, uid: 'play', labels: { [label]: 'ball' } },
    spec: { template: { spec: { containers: [] } } },
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
  });
}

function contextOf(kube: FakeKube, more: Partial<PassContext> = {}): PassContext {
  return {
    kube,
    namespace,
    clusters: [],
    followUp: false,
    dryRun: false,
    waitMs: 0,
    etcd: async () => assert.fail('no member runs here'),
    wire: async () => undefined,
    holder: { pod: 'etcd-ratchet/one', uid: 'one' },
    nonce: () => 'f'.repeat(32),
    log: () => undefined,
    signal: AbortSignal.timeout(20_000),
    deadline: Date.now() + 20_000,
    ...more,
  };
}

test('a kind of one row is listed after the kinds that it names, stepped and reported', async () => {
  const { kube, table } = stage();
  const result = await pass(contextOf(kube), table);
  const lists = kube.journal().flatMap(({ verb, resource }) => (verb === 'LIST' ? [resource.plural] : []));
  assert.ok(lists.indexOf('toys') > lists.indexOf('etcdrestores'), lists.join());
  assert.deepEqual([result.workRemains, result.moved, result.nextLook], [true, false, tomorrow]);
  assert.match(
    render(result, { clusters: [], output: 'text' }, { requests: {} }, table),
    /^toy {5} +etcd-ratchet\/ball {2}none {2}Playing: /m,
  );
  const { toys: told } = JSON.parse(render(result, { clusters: [], output: 'json' }, { requests: {} }, table));
  assert.deepEqual([told.length, told[0].reason], [1, 'Playing']);
});

test('an object of it is woken by a change that its row names, and stepped again', async () => {
  const { kube, table } = stage();
  const running = pass(contextOf(kube, { waitMs: 15_000 }), table);
  await endJob(kube);
  const result = await running;
  assert.deepEqual([result.workRemains, result.moved], [false, true]);
});

test('what was learned is kept and told where a later look is refused', async () => {
  let isRefused = false;
  const { kube, table } = stage({ authorize: ({ key }) => !(isRefused && key === 'LIST toys') });
  const said: string[] = [];
  const told: PassNews[] = [];
  const log = (_: object, message: string) => void said.push(message);
  const context = contextOf(kube, { waitMs: 15_000, log, onNews: async (news) => void told.push(news) });
  const running = pass(context, table);
  await isWatched(kube);
  isRefused = true;
  await endJob(kube);
  const { results, workRemains } = await running;
  const { toy = [] } = results as { readonly toy?: readonly StepResult[] };
  assert.deepEqual([toy.map(({ reason }) => reason), workRemains, told.length], [['Playing'], true, 1]);
  assert.deepEqual(
    said.filter((one) => one === 'toys were not looked at'),
    ['toys were not looked at'],
  );
});

test('what is left of it is followed up', async () => {
  const { kube, table } = stage();
  const news: PassNews = await pass(contextOf(kube), table);
  const signal = AbortSignal.timeout(5_000);
  const reach = { kube, env, log: () => undefined, signal, cronJob: { namespace, name: 'etcd-ratchet' } };
  await leaveWork(news, { dryRun: false, clusters: [], goOn: false }, reach, table);
  assert.equal(kube.stored<Job>(resources.jobs).length, 1);
});

test('it is planned', async () => {
  const { kube, table } = stage();
  const result = await planPass(contextOf(kube), table);
  assert.match(
    renderPlans(result, { clusters: [], output: 'text' }, { requests: {} }, table),
    /toy ball {2}would be played with\n {2}1\. throw it/,
  );
  assert.deepEqual(JSON.parse(renderPlans(result, { clusters: [], output: 'json' }, { requests: {} }, table)).toys, [
    { name: 'ball' },
  ]);
});

test('an invocation about one cluster leaves it out, and one that can’t list it goes on', async () => {
  const { kube, table } = stage();
  await pass(contextOf(kube, { clusters: [{ namespace, name: 'orders' }] }), table);
  assert.equal(kube.requests()['LIST toys'], undefined);
  const said: string[] = [];
  const without = createFakeKube({ serves: ({ plural }) => plural !== 'toys' });
  const result = await pass(contextOf(without, { log: (_, message) => said.push(message) }), tableFor(without));
  assert.deepEqual([result.workRemains, said.includes('toys were not looked at')], [false, true]);
});
