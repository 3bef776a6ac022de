import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { helmFor } from '../support/cluster/helm.ts';
import { tools } from '../support/cluster/tools.ts';
import { localSettings } from '../support/network.ts';
import { isReady } from './support/conditions.ts';
import { never } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

const chart = resolve(import.meta.dirname, '../../manifests/helm/etcd-ratchet');
const binary = await tools.helm.provide();
const home = await mkdtemp(join(tmpdir(), 'helm-'));
after(() => rm(home, { recursive: true }));

const helm = (args: readonly string[]) => helmFor(binary, home, process.env.KUBECONFIG)(args);
const release = () => ['etcd-ratchet', chart, '--namespace', stage().namespace];

const values = [
  ['--set', 'namespaced=true'],
  ['--set', `tick.schedule=${never}`],
  ['--set-json', `settings=${JSON.stringify(localSettings)}`],
].flat();

const stage = scene({
  host: '10.244.0.1',
  // The scene has made the account of its fleet.
  furnish: async ({ namespace }) => {
    await helm(['install', 'etcd-ratchet', chart, '--namespace', namespace, '--take-ownership', ...values]);
  },
});

test('helm test looks with the rights of a tick, and says so', async () => {
  const said = await helm(['test', 'etcd-ratchet', '--namespace', stage().namespace, '--logs', '--timeout', '120s']);
  assert.match(said, /Phase: +Succeeded/);
});

test('the release makes a cluster, and neither its upgrade nor its uninstallation touches that', async () => {
  const { push, namespace, kubectl, cluster } = stage();
  await push({ 'clusters/led.yaml': clusterYaml('led', namespace, { replicas: 1 }) });
  await kubectl(['-n', namespace, 'create', 'job', '--from=cronjob/etcd-ratchet', 'first']);
  const isThere = async () => {
    const { items } = JSON.parse(
      await kubectl(['-n', namespace, 'get', 'etcdclusters.etcd.ratchet.dev', '-o', 'json']),
    ) as { items: object[] };
    return items.length > 0 && isReady(await cluster('led'));
  };
  await until('led is Ready', async () => (await isThere()) || undefined, { within: 90 });
  const { uid } = (await cluster('led')).metadata;

  await helm(['upgrade', ...release(), ...values, '--set', 'tick.resources.limits.memory=640Mi']);
  const limit = '{.spec.jobTemplate.spec.template.spec.containers[0].resources.limits.memory}';
  const found = await kubectl(['-n', namespace, 'get', 'cronjob', 'etcd-ratchet', '-o', `jsonpath=${limit}`]);
  assert.equal(found, '640Mi');

  await helm(['uninstall', 'etcd-ratchet', '--namespace', namespace]);
  assert.equal((await cluster('led')).metadata.uid, uid);
  assert.equal(isReady(await cluster('led')), true);
});

test('without the rights of a tick, helm test fails', async () => {
  const { namespace, kubectl } = stage();
  await helm(['install', ...release(), ...values]);
  await kubectl(['-n', namespace, 'delete', 'rolebinding', 'etcd-ratchet']);
  await assert.rejects(
    helm(['test', 'etcd-ratchet', '--namespace', namespace, '--timeout', '120s']),
    /etcd-ratchet-look failed/,
  );
});
