import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { follow } from '../../e2e/support/tutorial.ts';
import { helmFor } from '../../support/cluster/helm.ts';
import { tools } from '../../support/cluster/tools.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { pluralOf, standIn } from '../docs/stand-in-kinds.ts';
import { startApiServer } from './api-server.ts';

const chart = resolve(import.meta.dirname, '../../../manifests/helm/etcd-ratchet');

// Before the sandbox, which reaches no network.
await tools.helm.provide();
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
const home = await mkdtemp(join(tmpdir(), 'release-'));
after(() => rm(home, { recursive: true }));
const kubeconfig = join(home, 'kubeconfig');
await writeFile(kubeconfig, await api.kubectl(['config', 'view', '--raw', '--flatten']), { mode: 0o600 });
const helm = helmFor(await tools.helm.provide(), home, kubeconfig);

const release = ['etcd-ratchet', chart, '--namespace', 'etcd-ratchet'];
const names = (kind: string, namespace: string) => api.kubectl(['-n', namespace, 'get', kind, '-o', 'name']);
const schedule = () =>
  api.kubectl(['-n', 'etcd-ratchet', 'get', 'cronjob', 'etcd-ratchet', '-o', 'jsonpath={.spec.schedule}']);

test('beside CRDs that kubectl applied, Helm refuses, and takes them over where it is told to', async () => {
  await assert.rejects(helm(['install', ...release, '--create-namespace']), /CustomResourceDefinition .*etcdbackups/);
  await helm(['install', ...release, '--create-namespace', '--take-ownership']);
  assert.equal(await schedule(), '* * * * *');
});

test('an upgrade changes what a value says, switches a component on, and off again', async () => {
  await helm([
    'upgrade',
    ...release,
    '--set',
    'tick.schedule=*/5 * * * *',
    '--set',
    'components.webhooks.enabled=true',
  ]);
  assert.equal(await schedule(), '*/5 * * * *');
  assert.match(await names('deployments', 'etcd-ratchet'), /etcd-ratchet-webhooks/);
  await helm(['upgrade', ...release, '--reset-values']);
  assert.equal(await schedule(), '* * * * *');
  assert.equal(await names('deployments', 'etcd-ratchet'), '');
});

test('an upgrade changes the CRDs: it takes back what another hand wrote there', async () => {
  const crd = 'crd/etcdclusters.etcd.ratchet.dev';
  const description = '{.spec.versions[0].schema.openAPIV3Schema.description}';
  const before = await api.kubectl(['get', crd, '-o', `jsonpath=${description}`]);
  const patch = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/description', value: 'older' }];
  await api.kubectl(['patch', crd, '--type=json', '-p', JSON.stringify(patch)]);
  await helm(['upgrade', ...release, '--force-conflicts']);
  assert.equal(await api.kubectl(['get', crd, '-o', `jsonpath=${description}`]), before);
});

test('a release fits into its Secret with room to spare', async () => {
  const secrets = await api.kubectl(['-n', 'etcd-ratchet', 'get', 'secrets', '-o', 'json']);
  const { items } = JSON.parse(secrets) as { items: { type: string; data: { release: string } }[] };
  const releases = items.filter(({ type }) => type === 'helm.sh/release.v1');
  assert.ok(releases.length >= 3);
  for (const { data } of releases) assert.ok(data.release.length < 512 * 1024, `${data.release.length} bytes`);
});

test('uninstalling leaves the CRDs and every cluster, and installing again goes on with them', async () => {
  const cluster = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'default' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
  };
  await api.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(cluster) });
  const uid = ['-n', 'default', 'get', 'etcdclusters.etcd.ratchet.dev', 'orders', '-o', 'jsonpath={.metadata.uid}'];
  const before = await api.kubectl(uid);

  await helm(['uninstall', 'etcd-ratchet', '--namespace', 'etcd-ratchet']);
  assert.equal(await names('cronjobs', 'etcd-ratchet'), '');
  assert.equal((await api.kubectl(['get', 'crd', '-o', 'name'])).trim().split('\n').length, 7);
  assert.equal(await api.kubectl(uid), before);

  await helm(['install', ...release]);
  assert.equal(await schedule(), '* * * * *');
  assert.equal(await api.kubectl(uid), before);
});

describe('the pages about Helm, typed', () => {
  const blocksAt = typedIn('integration/manifests/chart-release');
  const typed = async (place: string) => {
    const bin = join(home, 'bin');
    await mkdir(bin, { recursive: true });
    await symlink(await tools.helm.provide(), join(bin, 'helm')).catch((error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'EEXIST');
    });
    const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home, KUBECONFIG: kubeconfig };
    await follow(blocksAt(place), { cwd: resolve(chart, '../../..'), env });
  };
  const remove = () => helm(['uninstall', 'etcd-ratchet', '--namespace', 'etcd-ratchet']);
  const image = '{.spec.jobTemplate.spec.template.spec.containers[0].image}';

  test('helm.md takes over what is there, and switches components on', async () => {
    await remove();
    await typed('docs/how-to/helm.md#from-kustomize-to-helm');
    await typed('docs/how-to/helm.md:2');
    const made = await names('deployments', 'etcd-ratchet');
    for (const name of ['webhooks', 'page']) assert.match(made, new RegExp(`etcd-ratchet-${name}`));
  });

  test('helm.md labels what is there, and leads a host to the webhook server', async () => {
    await typed('docs/how-to/helm.md:3');
    const hosts = ['-n', 'etcd-ratchet', 'get', 'ingress', '-l', 'team=data', '-o'];
    assert.equal(
      await api.kubectl([...hosts, 'jsonpath={.items[*].spec.rules[*].host} {.items[*].spec.ingressClassName}']),
      'hooks.example.com nginx',
    );
    for (const kind of ['deployments', 'cronjobs', 'serviceaccounts']) {
      const all = (await names(kind, 'etcd-ratchet')).split('\n').filter((name) => !name.endsWith('/default'));
      const labelled = await api.kubectl(['-n', 'etcd-ratchet', 'get', kind, '-l', 'team=data', '-o', 'name']);
      assert.deepEqual(labelled.split('\n'), all, kind);
    }
  });

  test('monitoring.md switches metrics, monitors and dashboards on, and leaves the others on', async () => {
    const group = 'monitoring.coreos.com';
    const kinds = ['PodMonitor', 'ServiceMonitor', 'PrometheusRule'];
    const items = kinds.map((kind) => standIn(group, kind));
    await api.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
    const definitions = kinds.map((kind) => `crd/${pluralOf(kind)}.${group}`);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...definitions]);
    await typed('docs/how-to/monitoring.md#in-ten-minutes-with-the-prometheus-operator:2');
    assert.match(await names(`prometheusrules.${group}`, 'etcd-ratchet'), /etcd-ratchet/);
    assert.match(await names('deployments', 'etcd-ratchet'), /etcd-ratchet-webhooks/);
  });

  test('air-gapped.md installs from the mirror', async () => {
    await remove();
    await typed('docs/how-to/air-gapped.md#2-install-from-the-mirror:2');
    const of = await api.kubectl(['-n', 'etcd-ratchet', 'get', 'cronjob/etcd-ratchet', '-o', `jsonpath=${image}`]);
    assert.match(of, /^registry\.example\.com\/etcd-ratchet:/);
  });
});
