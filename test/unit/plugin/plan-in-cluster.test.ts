import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planInCluster } from '../../../functions/plugin/plan-in-cluster.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { noKubectl, now, saidOn, unreachable } from '../../support/plugin/said.ts';

const installation = { namespace: 'ops', name: 'etcd-ratchet' };
const end = { kind: 'done', reason: 'Converged', message: 'all is as asked' };
const plan = {
  ...{ namespace: 'payments', name: 'orders', intent: 'keep' },
  planned: { summary: 'no steps', steps: [], end, changes: [], refusals: [], needsPerson: false },
};
const printed = (...clusters: readonly object[]) => JSON.stringify({ fleets: [], clusters });

/** An installation whose Jobs end at once. */
function installed(onLook?: () => void, forbidden: readonly string[] = []): FakeKube {
  const kube: FakeKube = createFakeKube({
    clock: () => now,
    authorize: ({ verb }) => !forbidden.includes(verb),
    before: ({ key }) => {
      if (key !== 'GET jobs' || kube.stored(resources.jobs).length === 0) return;
      onLook?.();
      if (onLook) return;
      const [job = assert.fail('no Job was made')] = kube.stored<Job>(resources.jobs);
      kube.seed(resources.jobs, { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
      const labels = { 'batch.kubernetes.io/job-name': job.metadata.name };
      kube.seed(resources.pods, { metadata: { namespace: 'ops', name: 'the-pod', labels } });
    },
  });
  const template = { spec: { containers: [{ name: 'tick', args: ['--namespace=ops'] }] } };
  kube.seed(resources.cronJobs, {
    metadata: { ...installation, uid: 'c' },
    spec: { jobTemplate: { spec: { template } } },
  });
  return kube;
}

function planned(kube: FakeKube, log: string, stop = new AbortController().signal) {
  const say = () => {};
  const terminal = { out: say, err: say, colours: false, now: () => now, stop };
  const asked = {
    ...terminal,
    kube,
    kubectl: noKubectl,
    reach: unreachable,
    namespace: 'payments',
    output: 'text' as const,
  };
  return planInCluster('orders', asked, {
    installation,
    readLog: async (pod, { namespace }) => {
      assert.deepEqual([pod, namespace], ['the-pod', 'ops']);
      return log;
    },
  });
}

test('a Job of the CronJob plans this cluster only, and its log has the plan', async () => {
  const kube = installed();
  const log = `[pod/the-pod/tick] {"level":30,"msg":"x"}\n[pod/the-pod/tick] ${printed(plan)}\n`;
  assert.equal((await planned(kube, log)).planned?.end.reason, 'Converged');
  const job = made(kube);
  assert.deepEqual(job.spec.template.spec.containers[0]?.args, [
    ...['--namespace=ops', '--plan', '--cluster=payments/orders', '--output=json'],
  ]);
  assert.deepEqual(kube.stored(resources.jobs), [], 'the Job is removed');
});

/** The Job that was made, and perhaps removed since. */
function made(kube: FakeKube): Job {
  const { body } = kube.journal().find(({ key }) => key === 'POST jobs') ?? assert.fail('no Job was made');
  return body as Job;
}

test('a person’s Ctrl-C removes the Job', async () => {
  const stopping = new AbortController();
  const kube = installed(() => stopping.abort());
  await assert.rejects(planned(kube, '', stopping.signal), /stopped|abort/);
  assert.ok(made(kube));
  assert.deepEqual(kube.stored(resources.jobs), []);
});

test('a person who may make Jobs and not delete them is told that it ends by itself', async () => {
  const kube = installed(undefined, ['DELETE']);
  const log = `${printed(plan)}\n`;
  assert.ok(await planned(kube, log));
  assert.equal(kube.stored(resources.jobs).length, 1);
});

const cluster = {
  ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster' },
  metadata: { namespace: 'payments', name: 'orders' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
};

for (const [state, code] of [
  ['done', 0],
  ['refused', 3],
] as const)
  test(`check --in-cluster ends with ${code} where the plan is ${state}`, async () => {
    const kube = installed();
    kube.seed(resources.clusters, cluster);
    const told = { ...plan, planned: { ...plan.planned, end: { ...end, kind: state, cure: 'restore it' } } };
    const kubectl = { ...noKubectl, text: async () => `${printed(told)}\n` };
    const args = ['check', 'orders', '--in-cluster', '--installation', 'ops/etcd-ratchet'];
    const said = await saidOn(kube, args, {}, { kubectl });
    assert.equal(said.code, code, said.err);
    assert.match(said.out, /^payments\/orders: (Ready|Stalled)\n {2}Converged: all is as asked\n/);
  });

test('a log that is no plan, or one of another cluster, is none, and says where to look', async () => {
  const hostile = { ...plan, planned: { ...plan.planned, steps: [{ action: {} }] } };
  for (const log of [
    '',
    '{',
    'null',
    '{"clusters":{}}',
    printed({ ...plan, name: 'other' }),
    printed(hostile),
    '{"clusters":[7]}',
  ])
    await assert.rejects(planned(installed(), log), /Job ops\/etcd-ratchet-plan-[0-9a-f]+ printed no plan/);
});

test('without the CronJob, it says what to name', async () => {
  await assert.rejects(planned(createFakeKube(), ''), /no CronJob ops\/etcd-ratchet: name the installation/);
});
