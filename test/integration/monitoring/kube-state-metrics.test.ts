import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { kinds } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { cronJobMetrics } from '../../../manifests/monitoring/kube-state-metrics.ts';
import { metricNames } from '../../../manifests/monitoring/metrics.ts';
import { until } from '../../e2e/support/until.ts';
import { tools } from '../../support/cluster/tools.ts';
import { cluster } from '../../unit/manifests/api-documents.ts';
import { startApiServer } from '../manifests/api-server.ts';
import { at, atSeconds, objects } from './objects.ts';
import { type Sample, samplesIn } from './samples.ts';

const binaries = await tools.monitoring.provide();
// For inside, where nothing can be fetched.
Object.assign(process.env, tools.monitoring.environment(binaries));
const api = await startApiServer();
const parts = new AsyncDisposableStack();
after(async () => {
  await parts.disposeAsync();
  await api[Symbol.asyncDispose]();
});

const component = resolve(import.meta.dirname, '../../../manifests/install/components/metrics');
const [port, telemetryPort] = [18_080, 18_081];

const samples = await allSamples();

/** Of the component as it is, but that its pod is a process here. */
async function allSamples(): Promise<readonly Sample[]> {
  await api.kubectl(['create', 'namespace', 'etcd-ratchet']);
  for (const file of ['role', 'access', 'config-map', 'deployment', 'network-policy'])
    await api.kubectl(['apply', '--validate=strict', '-f', join(component, `${file}.yaml`)]);
  for (const kind of kinds) await makeObject(kind);
  await makeUnborn();

  const directory = await mkdtemp(join(tmpdir(), 'kube-state-metrics-'));
  parts.defer(() => rm(directory, { recursive: true }));
  const config = join(directory, 'config.yaml');
  const path = 'jsonpath={.data.kube-state-metrics\\.yaml}';
  const text = await api.kubectl(['-n', 'etcd-ratchet', 'get', 'configmap', 'etcd-ratchet-metrics', '-o', path]);
  await writeFile(config, text);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, await api.kubeconfigOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet-metrics' }));

  const args = (await containerArguments()).map((one) =>
    one
      .replace('/etc/etcd-ratchet/kube-state-metrics.yaml', config)
      .replace('--port=8080', `--port=${port}`)
      .replace('--telemetry-port=8081', `--telemetry-port=${telemetryPort}`),
  );
  return untilComplete({ port, names: metricNames, said: start([...args, `--kubeconfig=${kubeconfig}`]) });
}

/** Returns what reads what it said last. */
function start(args: readonly string[]): () => string {
  const running = spawn(binaries['kube-state-metrics'], args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  running.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-20_000);
  });
  parts.defer(async () => {
    if (running.exitCode === null && running.kill()) await once(running, 'exit');
  });
  return () => said;
}

/** What the Deployment of the component starts it with. */
async function containerArguments(): Promise<readonly string[]> {
  const path = 'jsonpath={.spec.template.spec.containers[0].args}';
  return JSON.parse(
    await api.kubectl(['-n', 'etcd-ratchet', 'get', 'deployment', 'etcd-ratchet-metrics', '-o', path]),
  ) as readonly string[];
}

async function makeObject(kind: (typeof kinds)[number]): Promise<void> {
  const { document, status } = objects[kind];
  const { plural, clusterScoped } = definitions[kind];
  const base = `/apis/etcd.ratchet.dev/v1alpha1${clusterScoped ? '' : '/namespaces/default'}/${plural}`;
  const made = await api.send('POST', base, document);
  assert.equal(made.status, 201, `${kind}: ${made.body.message}`);
  const { name } = made.body.metadata as { readonly name: string };
  const told = await api.send('PUT', `${base}/${name}/status`, { ...made.body, status });
  assert.equal(told.status, 200, `${kind}: ${told.body.message}`);
}

/** As a birth's first step leaves it. */
async function makeUnborn(): Promise<void> {
  const base = '/apis/etcd.ratchet.dev/v1alpha1/namespaces/default/etcdclusters';
  const made = await api.send('POST', base, { ...cluster, metadata: { ...cluster.metadata, name: 'unborn' } });
  assert.equal(made.status, 201, made.body.message);
  const told = await api.send('PUT', `${base}/unborn/status`, { ...made.body, status: { observedGeneration: 1 } });
  assert.equal(told.status, 200, told.body.message);
}

interface Served {
  readonly port: number;
  readonly names: readonly string[];
  readonly said: () => string;
}

/** Until there is a series of every metric, or the time is over. */
async function untilComplete({ port: at, names, said }: Served): Promise<readonly Sample[]> {
  let missing = names;
  const look = async () => {
    const found = samplesIn(await fetch(`http://127.0.0.1:${at}/metrics`).then((answer) => answer.text()));
    missing = names.filter((name) => !found.some((one) => one.name === name));
    return missing.length === 0 && found;
  };
  return until('a series of every metric', look, { last: () => `missing: ${missing.join(', ')}; it said:\n${said()}` });
}

function valueFor(name: string, labels: Readonly<Record<string, string>> = {}): number {
  const fitting = samples.filter(
    (one) => one.name === name && Object.entries(labels).every(([label, wanted]) => one.labels[label] === wanted),
  );
  assert.equal(fitting.length, 1, `${name} ${JSON.stringify(labels)}: ${JSON.stringify(fitting)}`);
  return fitting[0]?.value ?? Number.NaN;
}

test('the real kube-state-metrics makes series of every metric, with the rights of the component', () => {
  for (const name of metricNames)
    assert.ok(
      samples.some((one) => one.name === name),
      name,
    );
});

test('it makes no series that the table lacks', () => {
  const others = samples.filter(({ name }) => name.startsWith('etcd_ratchet_') && !metricNames.includes(name));
  assert.deepEqual(others, []);
});

test('conditions are 1, 0 and 0 where they are True, False and Unknown, with their reasons', () => {
  const orders = { namespace: 'default', name: 'orders' };
  const of = (type: string) => valueFor('etcd_ratchet_cluster_condition', { ...orders, type, reason: 'QuorumLost' });
  assert.deepEqual([of('Stalled'), of('Available'), of('Ready')], [1, 0, 0]);
});

test('members, sizes, times and counts are what the status says', () => {
  const of = (member: string) => valueFor('etcd_ratchet_cluster_member_healthy', { member });
  assert.deepEqual([of('orders-0'), of('orders-1'), of('orders-2')], [1, 1, 0]);
  assert.equal(valueFor('etcd_ratchet_cluster_member_db_bytes', { member: 'orders-1' }), 8192);
  assert.equal(valueFor('etcd_ratchet_cluster_member_db_in_use_bytes', { member: 'orders-0' }), 1024);
  assert.equal(Date.parse(at) / 1000, atSeconds);
  assert.equal(valueFor('etcd_ratchet_cluster_certificate_ends_seconds'), atSeconds);
  assert.equal(valueFor('etcd_ratchet_fleet_last_run_seconds'), atSeconds);
  assert.equal(valueFor('etcd_ratchet_backup_schedule_last_good_seconds'), atSeconds);
  assert.equal(valueFor('etcd_ratchet_fleet_clusters', { state: 'stalled' }), 1);
  assert.equal(valueFor('etcd_ratchet_node_policy_reboots_done'), 12);
});

test('what a cluster is, is in the labels of one series; before its birth there is none', () => {
  const born = { name: 'orders', cluster_id: '8c9d0a1b2c3d4e5f', version: '3.6.16', leader: 'orders-0' };
  assert.equal(valueFor('etcd_ratchet_cluster_info', born), 1);
  const all = samples.filter(({ name }) => name === 'etcd_ratchet_cluster_info');
  assert.deepEqual(
    all.map(({ labels }) => labels.name),
    ['orders'],
  );
});

test('an approval and a refusal are 1 with what they are about', () => {
  assert.equal(valueFor('etcd_ratchet_fleet_approval_asked', { annotation: 'etcd.ratchet.dev/confirm-prune' }), 1);
  const held = { annotation: 'etcd.ratchet.dev/replace-member', reason: 'HealingHeld', name: 'orders' };
  assert.equal(valueFor('etcd_ratchet_cluster_approval_asked', held), 1);
  assert.equal(valueFor('etcd_ratchet_cluster_refusal', { field: 'spec.version', reason: 'VersionRefused' }), 1);
});

test('the series of a CronJob that an alert asks for are those that it makes by itself', async () => {
  const workload = resolve(import.meta.dirname, '../../../manifests/install/workload/cronjob.yaml');
  await api.kubectl(['apply', '-f', workload]);
  const path = '/apis/batch/v1/namespaces/etcd-ratchet/cronjobs/etcd-ratchet/status';
  const { body } = await api.send('GET', path);
  const told = await api.send('PUT', path, { ...body, status: { lastSuccessfulTime: at } });
  assert.equal(told.status, 200, told.body.message);
  const names = Object.keys(cronJobMetrics);
  const [own, telemetry] = [18_082, 18_083];
  const kubeconfig = join(await mkdtemp(join(tmpdir(), 'kube-state-metrics-')), 'kubeconfig');
  parts.defer(() => rm(dirname(kubeconfig), { recursive: true }));
  await api.kubectl(['create', 'serviceaccount', 'metrics']);
  await api.kubectl([
    'create',
    'clusterrolebinding',
    'metrics',
    '--clusterrole=view',
    '--serviceaccount=default:metrics',
  ]);
  await writeFile(kubeconfig, await api.kubeconfigOf({ namespace: 'default', name: 'metrics' }));
  const said = start([
    '--resources=cronjobs',
    `--port=${own}`,
    `--telemetry-port=${telemetry}`,
    `--kubeconfig=${kubeconfig}`,
  ]);
  const found = await untilComplete({ port: own, names, said });
  for (const name of names) {
    const { labels } = found.find((one) => one.name === name) ?? assert.fail(name);
    assert.deepEqual({ ...labels }, { namespace: 'etcd-ratchet', cronjob: 'etcd-ratchet' });
  }
});
