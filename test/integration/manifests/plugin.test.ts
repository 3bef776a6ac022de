/** `kubectl ratchet`, as npm installs it: found by kubectl, with a person's kubeconfig, on a real API server. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { shareApiServer } from '../shared-api-server.ts';
import { kubectlRatchet } from './kubectl-ratchet.ts';

const api = await shareApiServer();
const plugin = await kubectlRatchet(api.kubeconfigPath);
const { ratchet } = plugin;
after(async () => {
  await plugin[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const orders = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { namespace: api.namespace, name: 'orders' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
};

test('kubectl finds it, and it looks into the namespace of the context', async () => {
  await api.kube.create(resources.clusters, orders);
  const { code, stdout } = await ratchet('status');
  assert.equal(code, 0);
  assert.match(stdout, /^NAME +STATE[^\n]*\norders +\S/);
  assert.match((await ratchet('status', '-n', 'kube-system')).stderr, /no EtcdCluster in namespace kube-system/);
});

test('what it changes is what the API server has', async () => {
  assert.match((await ratchet('pause', 'orders')).stdout, /test-[0-9a-f]+\/orders is paused/);
  const annotation = 'etcd.ratchet.dev/paused';
  const paused = async () =>
    (await api.kube.get(resources.clusters, api.namespace, 'orders'))?.metadata.annotations?.[annotation];
  assert.equal(await paused(), 'true');
  assert.equal((await ratchet('resume', 'orders')).code, 0);
  assert.equal(await paused(), undefined);
});

const fleet: EtcdFleet = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdFleet',
  metadata: { namespace: api.namespace, name: 'production' },
  spec: { git: { url: 'https://git.example.com/etcd.git', ref: 'main' } },
};

/** As a pass that could not read the repository reports it. */
async function reportStalled(found: EtcdFleet): Promise<EtcdFleet> {
  const reading = {
    kind: 'failed',
    reason: 'RefNotFound',
    message: 'there is no branch main',
    retryable: false,
  } as const;
  const outcome = { reading, retries: [], applied: false, changed: new Set<string>(), pruned: [] };
  const signal = AbortSignal.timeout(30_000);
  const context = { signal, forgeDeadline: Date.now(), always: true, fleets: [found] };
  return reportFleet({ fleet: found, outcome }, [], { kube: api.kube, log: () => undefined, ...context });
}

test('a fleet has its events on the API server, once for what lasts, and history shows them', async () => {
  const created = await api.kube.create<EtcdFleet>(resources.fleets, fleet);
  await reportStalled(created);
  await reportStalled((await api.kube.get<EtcdFleet>(resources.fleets, api.namespace, 'production')) ?? assert.fail());
  const described = await api.kubectl(['describe', 'etcdfleet', 'production']);
  assert.equal(described.match(/Warning +RefNotFound/g)?.length, 1);
  assert.match(described, /there is no branch main/);
  const { code, stdout } = await ratchet('history', 'fleet/production');
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^AT +WHAT +OUTCOME +REASON +MESSAGE\n\S+Z +Refuse +Warning +RefNotFound +there is no branch main/,
  );
});

test('a user who may only view sees all of it, and is told which right is missing', async () => {
  const role = parse(
    await readFile(join(import.meta.dirname, '../../../manifests/install/cluster/view-role.yaml'), 'utf8'),
  );
  await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${api.namespace}/roles`, {
    metadata: { name: 'viewer' },
    rules: role.rules,
  });
  const viewing = await plugin.as('viewing');
  const account = `--serviceaccount=${api.namespace}:viewing`;
  await api.kubectl(['create', 'rolebinding', 'viewer', '--role=viewer', account]);
  const only = await viewing('status', 'orders');
  assert.equal(only.code, 0);
  assert.match(only.stdout, /\nCertificates +none yet\n[\s\S]*\nit has no members yet\n/);
  assert.match(only.stderr, /^you may not read pods: /);
  // What the controllers of a whole cluster put together as ClusterRole view.
  await api.kubectl(['create', 'rolebinding', 'view', '--clusterrole=system:aggregate-to-view', account]);
  for (const [args, shown] of [
    [
      ['status'],
      /^NAME[^\n]*\norders +Reconciling[\s\S]*\nEtcdFleet test-\S+production needs you\nRefNotFound: there is no branch main\n/,
    ],
    [['status', 'orders'], /\nQuota +\S+ MiB\n/],
    [
      ['tree'],
      /\nEtcdFleet test-\S+production +Stalled +there is no branch main\nEtcdCluster test-\S+orders +Reconciling/,
    ],
    [
      ['why', 'fleet/production'],
      /^EtcdFleet test-\S+production: Stalled\n\nRefNotFound: there is no branch main\n {2}see: {3}\S+fleet\.md\n/,
    ],
    [['history', 'fleet/production'], /Refuse +Warning +RefNotFound/],
  ] as const) {
    const { code, stdout, stderr } = await viewing(...args);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    assert.match(stdout, shown);
  }
  const refused = await viewing('why', 'nodepolicy/workers');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /403 Forbidden[\s\S]*etcdnodepolicies[\s\S]*\nRoles of a namespace: /);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`a watch shows a change without being asked again, and ends with ${signal}`, {
    timeout: 60_000,
  }, async (context) => {
    const child = plugin.start(['why', 'orders', '--watch', '--interval=1'], context.signal);
    try {
      const ended = once(child, 'exit');
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (more) => {
        said += more;
      });
      await until('it shows the cluster', async () => said.includes('orders: Reconciling'));
      await ratchet('pause', 'orders');
      await until('it shows the change', async () => said.includes('it is paused: no step is taken'));
      await ratchet('resume', 'orders');
      child.kill(signal);
      assert.deepEqual(await ended, [0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

test('check --pre asks the API server itself, and says what is to be done', async () => {
  const { code, stdout, stderr } = await ratchet('check', '--pre', '-o', 'json');
  assert.equal(code, 3, stderr);
  const { checks } = JSON.parse(stdout) as { checks: { what: string; verdict: string; text: string }[] };
  const said = new Map(checks.map(({ what, verdict, text }) => [what, `${verdict} ${text}`]));
  assert.match(said.get('version') ?? '', /^ok Kubernetes v1\.\d+/);
  assert.equal(said.get('rights'), 'ok you may install it');
  assert.equal(said.get('policies'), 'ok ValidatingAdmissionPolicy is served');
  assert.equal(said.get('CRDs'), 'ok the CRDs that are there are those of this release');
  assert.match(said.get('storage') ?? '', /^do there is no default StorageClass/);
  assert.match(said.get('clock') ?? '', /^ok /);
  const certManager = (await ratchet('check', '--pre', '--cert-manager')).stdout;
  assert.match(certManager, /^cert-manager +do +cert-manager\.io\/v1 is not served/m);
});

test('an account without rights is told which it lacks, and what it can not see', async () => {
  const asNobody = await plugin.as('nobody');
  const { code, stdout } = await asNobody('check', '--pre');
  assert.equal(code, 3);
  assert.match(
    stdout,
    /^rights +do +you may not create customresourcedefinitions, [\s\S]*: have a cluster administrator/m,
  );
  assert.match(stdout, /^storage +unknown +you may not look: /m);
  assert.match(stdout, /^version +ok /m);
});

test('check --in-cluster makes a Job of the installation, and removes it', async () => {
  const container = { name: 'tick', image: 'etcd-ratchet', args: [] };
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  await api.kube.create(resources.cronJobs, {
    metadata: { namespace: api.namespace, name: 'own' },
    spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template } } },
  } as KubeObject);
  const running = ratchet('check', 'orders', '--in-cluster', '--installation', `${api.namespace}/own`);
  const job = await until('there is a Job', async () => {
    const { items } = await api.kube.list<Job>(resources.jobs, { namespace: api.namespace });
    return items.find(({ metadata }) => metadata.name.startsWith('own-plan-'));
  });
  assert.deepEqual(job.spec.template.spec.containers[0]?.args, [
    ...['--plan', `--cluster=${api.namespace}/orders`, '--output=json'],
  ]);
  // No node runs it here: it ends as one that failed.
  const at = new Date().toISOString();
  const conditions = ['FailureTarget', 'Failed'].map((type) => ({
    ...{ type, status: 'True', reason: 'BackoffLimitExceeded', message: 'no node' },
    ...{ lastProbeTime: at, lastTransitionTime: at },
  }));
  await api.kube.updateStatus(resources.jobs, { ...job, status: { startTime: at, conditions } } as KubeObject);
  const { code, stderr } = await running;
  assert.equal(code, 1);
  assert.match(stderr, /own-plan-[0-9a-f]+ printed no plan/);
  const gone = async () => (await api.kube.get(resources.jobs, api.namespace, job.metadata.name)) === undefined;
  await until('the Job is gone', gone);
});

test('another context is another identity, and one that is not there is named', async () => {
  const { code, stderr } = await ratchet('status', '--context', 'none');
  assert.equal(code, 1);
  assert.match(stderr, /context none/);
});

test('a name that is none of Kubernetes’ is refused, and asks for nothing else', async () => {
  for (const name of ['', '../secrets/x', 'a b', '%2e%2e', 'ä', 'a'.repeat(300)]) {
    const { code, stderr } = await ratchet('pause', name);
    assert.equal(code, 2, name);
    const [cause, ...more] = stderr.split('\n');
    assert.match(cause ?? '', /^error: command-argument value '.*' is invalid for argument 'cluster'\. /);
    assert.deepEqual(more, ['--help shows how it is used.', '']);
  }
});
