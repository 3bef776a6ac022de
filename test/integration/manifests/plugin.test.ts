/** `kubectl ratchet`, as npm installs it: found by kubectl, with a person's kubeconfig, on a real API server. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { resources } from '../../../reconcile/interfaces/kube.ts';
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
