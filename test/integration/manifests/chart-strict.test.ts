import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { clusterYaml } from '../../e2e/support/specs.ts';
import { until } from '../../e2e/support/until.ts';
import { helmFor } from '../../support/cluster/helm.ts';
import { tools } from '../../support/cluster/tools.ts';
import { startGitServer } from '../../support/git/server.ts';
import { startApiServer } from './api-server.ts';
import { cronJobPass } from './cronjob-pass.ts';
import { cluster } from './tenants-objects.ts';

/** A release with `strict`, whose admin has listed nothing yet, and what its passes make of what authors name. */

// Before the sandbox, which reaches no network.
const binary = await tools.helm.provide();
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
const home = await mkdtemp(join(tmpdir(), 'strict-'));
after(() => rm(home, { recursive: true }));
const kubeconfig = join(home, 'kubeconfig');
await writeFile(kubeconfig, await api.kubectl(['config', 'view', '--raw', '--flatten']), { mode: 0o600 });
const helm = helmFor(binary, home, kubeconfig);
const chart = resolve(import.meta.dirname, '../../../manifests/helm/etcd-ratchet');
const release = ['etcd-ratchet', chart, '--namespace', 'etcd-ratchet', '--set', 'strict=true'];
const namespace = 'payments';
const signal = AbortSignal.timeout(240_000);

const git = await startGitServer();
after(() => git.stop());
const repository = await git.createRepository('etcd');
await repository.commit({ 'ledger.yaml': clusterYaml('ledger', namespace) });

await helm(['install', ...release, '--create-namespace', '--take-ownership', '--force-conflicts']);
await api.kubectl(['create', 'namespace', namespace]);
for (const command of [
  ['create', 'serviceaccount', 'fleet'],
  ['create', 'rolebinding', 'fleet', '--clusterrole=etcd-ratchet-fleet', `--serviceaccount=${namespace}:fleet`],
  ['create', 'role', 'host', '--verb=impersonate', '--resource=serviceaccounts', '--resource-name=fleet'],
  ['create', 'rolebinding', 'host', '--role=host', '--serviceaccount=etcd-ratchet:etcd-ratchet'],
])
  await api.kubectl(['-n', namespace, ...command]);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });
const document = (kind: string, name: string, spec: object): KubeObject => ({
  ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name, namespace } },
  ...{ spec },
});
const fleet = document('EtcdFleet', 'fleet', { git: { url: repository.url, ref: 'main' } });
const spec = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' } };
for (const object of [
  fleet,
  cluster(namespace, 'orders'),
  cluster(namespace, 'open', { tls: { mode: 'Managed' }, service: { type: 'LoadBalancer' } }),
  document('EtcdRestore', 'again', { from: { object: 's3://elsewhere/a.db' }, cluster: { name: 'again', spec } }),
])
  await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });

async function found<T extends KubeObject>(resource: Resource, name: string): Promise<T> {
  return (await kube.get<T>(resource, namespace, name, { signal })) ?? assert.fail(`there is no ${name}`);
}
/** Why it is Stalled. */
async function why(name: string): Promise<string> {
  const { status } = await found<EtcdCluster>(resources.clusters, name);
  const { reason, message } = conditionOf(status, 'Stalled') ?? {};
  return `${reason}: ${message}`;
}

async function made(kind: string): Promise<readonly string[]> {
  const said = await api.kubectl(['-n', namespace, 'get', kind, '-o', 'name']);
  return said.split('\n').filter(Boolean);
}

test('a strict release reads no repository and starts no member before its lists are set', async () => {
  await cronJobPass(api);
  await cronJobPass(api);
  const source = conditionOf((await found<EtcdFleet>(resources.fleets, 'fleet')).status, 'SourceReady');
  assert.match(`${source?.reason}: ${source?.message}`, /^HostRefused: .*127\.0\.0\.1.*RATCHET_HOSTS/);
  assert.deepEqual(git.requests, [], 'nothing was asked');
  for (const name of ['orders', 'open', 'again'])
    assert.match(await why(name), /^NotAllowed: .*quay\.io.*RATCHET_IMAGES/);
  assert.deepEqual(await made('statefulsets,jobs,pods'), []);
});

test('what an admin lists in values is taken from the next pass on, and nothing else', async () => {
  const listed = { RATCHET_HOSTS: '127.0.0.1', RATCHET_IMAGES: 'quay.io/coreos/etcd' };
  await helm(['upgrade', ...release, '--set-json', `settings=${JSON.stringify(listed)}`]);
  // Its authorities come before its data.
  const again = async () => {
    await cronJobPass(api);
    return /^SnapshotHostRefused: .*s3:\/\/elsewhere.*RATCHET_BUCKETS/.test(await why('again'));
  };
  await until('the bucket is refused', again, { within: 100 });
  const members = ['ledger', 'orders'].flatMap((name) => [0, 1, 2].map((at) => `statefulset.apps/${name}-${at}`));
  assert.deepEqual(await made('statefulsets'), members);
  assert.match(await why('open'), /^NotAllowed: .*LoadBalancer.*RATCHET_SERVICE_TYPES/);
  assert.deepEqual(await made('jobs'), []);
});
