import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planInCluster } from '../../../functions/plugin/plan-in-cluster.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { now, unreachable } from '../../support/plugin/said.ts';

const installation = { namespace: 'ops', name: 'etcd-ratchet' };
const end = { kind: 'done', reason: 'Converged', message: 'all is as asked' };
const plan = {
  ...{ namespace: 'payments', name: 'orders', intent: 'keep' },
  planned: { summary: 'no steps', steps: [], end, changes: [], refusals: [], needsPerson: false },
};
const printed = (...clusters: readonly object[]) => JSON.stringify({ fleets: [], clusters });

/** An installation whose Jobs end at once. */
function installed(): FakeKube {
  const kube: FakeKube = createFakeKube({
    clock: () => now,
    before: ({ key }) => {
      if (key !== 'GET jobs') return;
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

function planned(kube: FakeKube, log: string) {
  const say = () => {};
  const terminal = { out: say, err: say, colours: false, now: () => now, stop: new AbortController().signal };
  const asked = { ...terminal, kube, reach: unreachable, namespace: 'payments', output: 'text' as const };
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
  const [job] = kube.stored<Job>(resources.jobs);
  assert.deepEqual(job?.spec.template.spec.containers[0]?.args, [
    ...['--namespace=ops', '--plan', '--cluster=payments/orders', '--output=json'],
  ]);
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
    await assert.rejects(
      planned(installed(), log),
      /printed no plan; see: kubectl -n ops logs job\/etcd-ratchet-plan-/,
    );
});

test('without the CronJob, it says what to name', async () => {
  await assert.rejects(planned(createFakeKube(), ''), /no CronJob ops\/etcd-ratchet: name the installation/);
});
