import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CronJob,
  chainLabel,
  followUpLabel,
  type Job,
  jobOf,
  linksOf,
} from '../../functions/pass/follow-up/chain.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isReady } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/** Follow-ups that wait for three seconds, not for 45; no tick comes but those that a test starts. */
const stage = scene({
  host: '10.244.0.1',
  furnish: async (opened) => {
    await installNamespaced(opened);
    const path = '/spec/jobTemplate/spec/template/spec/containers/0/args/-';
    const patch = JSON.stringify([{ op: 'add', path, value: '--wait=3' }]);
    await opened.kubectl(['-n', opened.namespace, 'patch', 'cronjob', 'etcd-ratchet', '--type=json', '-p', patch]);
  },
});

async function trigger(name: string): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
}

async function lastLink(): Promise<number> {
  const links = linksOf(await stage().list<Job>(resources.jobs));
  return Math.max(0, ...links.map(({ number }) => number));
}

async function ready(name: string): Promise<EtcdCluster> {
  let last = '';
  return until(
    `${name} Ready`,
    async () => {
      const found = await stage().get<EtcdCluster>(resources.clusters, name);
      last = JSON.stringify(found?.status?.lastDecision);
      return found && isReady(found) ? found : undefined;
    },
    { within: 120, last: () => last },
  );
}

test('a push that meets a follow-up which never looks again is carried out at once', async () => {
  const { push, namespace, kube, get } = stage();
  const cronJob = await get<CronJob>(resources.cronJobs, 'etcd-ratchet');
  assert.ok(cronJob);
  // Under way for the API server, and without a process: as if it had looked for the last time, or were dead.
  const labels = { [followUpLabel]: 'true', [chainLabel]: '0' };
  const { spec, ...asleep } = jobOf(cronJob, { suffix: '0-7', labels, args: ['--follow-up=0.7'] });
  await kube.create(resources.jobs, { ...asleep, spec: { ...spec, suspend: true } } as Job);
  await push({ 'clusters/led.yaml': clusterYaml('led', namespace) });
  const started = performance.now();
  await trigger('met');
  await ready('led');
  console.log(`# from the push to Ready, beside a dead link: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.deepEqual(
    [...new Set(linksOf(await stage().list<Job>(resources.jobs)).map(({ chain }) => chain))],
    ['0'],
    'no second chain',
  );
});

test('a birth whose members start later than a follow-up waits is seen when they do', async () => {
  const { push, namespace, kubectl } = stage();
  const label = `ratchet.test/${namespace}`;
  const podTemplate = { spec: { nodeSelector: { [label]: 'true' } } };
  await push({
    'clusters/led.yaml': clusterYaml('led', namespace),
    'clusters/late.yaml': clusterYaml('late', namespace, { podTemplate }),
  });
  await trigger('late');
  const isWaiting = (cluster: EtcdCluster | undefined) => cluster?.status?.lastDecision?.kind === 'Wait';
  await until('late waits', async () => isWaiting(await stage().get<EtcdCluster>(resources.clusters, 'late')));
  const before = await lastLink();
  let last = before;
  await until(
    'two follow-ups have seen nothing move',
    async () => {
      last = await lastLink();
      return last > before + 2;
    },
    { within: 120, last: () => `the last one is ${last}, and it was ${before}` },
  );
  // Those that run pods: other tests make and delete Nodes that stand for none.
  await kubectl(['label', 'nodes', '-l', 'kubernetes.io/hostname', `${label}=true`]);
  const started = performance.now();
  await ready('late');
  console.log(`# from the node's coming to Ready: ${((performance.now() - started) / 1000).toFixed(1)} s`);
});
