import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { clusterYaml } from '../../e2e/support/specs.ts';
import { until } from '../../e2e/support/until.ts';
import { blocksOf } from '../../support/docs/blocks.ts';
import { startGitServer } from '../../support/git/server.ts';
import { read } from '../../unit/docs/pages.ts';
import { cronJobPass } from './cronjob-pass.ts';
import { answered, startInstallation } from './own-account.ts';
import { cluster } from './tenants-objects.ts';

/** Roles of docs/how-to/install.md, from Kubernetes 1.36 on: acting as a fleet's account on our kinds, and no other. */

const page = 'docs/how-to/install.md';
const git = await startGitServer();
after(() => git.stop());
const repository = await git.createRepository('etcd');
const { api, us, signal } = await startInstallation([]);
after(() => api[Symbol.asyncDispose]());

const namespace = 'payments';
const home = 'etcd-ratchet';
const secretsOf = ['--verb=get,list', '--resource=secrets'];
for (const command of [
  ['create', 'rolebinding', 'etcd-ratchet-fleet', '--clusterrole=etcd-ratchet-fleet', `--serviceaccount=${home}:fleet`],
  // More than a fleet has: what a thief of the tick's token would want to act as it for.
  ['create', 'role', 'secrets', ...secretsOf],
  ['create', 'rolebinding', 'secrets', '--role=secrets', `--serviceaccount=${home}:fleet`],
  ['create', 'serviceaccount', 'boss'],
  ['create', 'rolebinding', 'boss', '--clusterrole=admin', `--serviceaccount=${namespace}:boss`],
])
  await api.kubectl(['-n', namespace, ...command]);

const fleet = us.as({ namespace: home, name: 'fleet' });
const listSecrets = () => answered(fleet.list(resources.secrets, { namespace, signal }));
const creating = (by: typeof us, resource: Resource, object: object) =>
  answered(by.create(resource, object as KubeObject, { signal }));

test('with the verb that every minor knows, the token of a tick has all rights of a fleet', async () => {
  await until('the roles count', async () => (await listSecrets()) === 'done');
});

test('with what the page says, it acts as that account on our kinds only', async () => {
  const shown = blocksOf(page, read(page)).filter(({ kind, text }) => kind === 'yaml' && text.includes('rbac'));
  assert.equal(shown.length, 3);
  await api.kubectl(['apply', '-f', '-'], { stdin: shown.map(({ text }) => text).join('---\n') });
  await until('the roles count', async () => /^403 .*impersonate/.test(await listSecrets()));
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } };
  assert.match(await creating(fleet, resources.configMaps, map), /^403 .*impersonate/);
  assert.match(await answered(fleet.list(resources.clusters, { namespace, signal })), /^403 .*impersonate/);
  await until(
    'it may',
    async () => (await creating(fleet, resources.clusters, cluster(namespace, 'orders'))) === 'done',
  );
});

test('it acts as no other account, user or group, and the account itself has no more than it had', async () => {
  const own = cluster(namespace, 'others');
  for (const one of [
    { namespace, name: 'boss' },
    { namespace: home, name: 'etcd-ratchet' },
  ])
    assert.match(await creating(us.as(one), resources.clusters, own), /^403 .*impersonate/);
  assert.match(await creating(fleet, resources.clusters, cluster('default', 'orders')), /^403 .*cannot create/);
  const token = (await api.kubectl(['-n', home, 'create', 'token', 'etcd-ratchet'])).trim();
  const path = `/apis/etcd.ratchet.dev/v1alpha1/namespaces/${namespace}/etcdclusters`;
  const admins = { 'impersonate-group': 'system:masters' };
  for (const headers of [
    { 'impersonate-user': 'admin' },
    { 'impersonate-user': 'admin', ...admins },
    { 'impersonate-user': `system:serviceaccount:${home}:fleet`, ...admins },
    { 'impersonate-user': 'system:node:a' },
  ]) {
    const { status, body } = await api.sendAs({ token, headers }, path, own);
    assert.equal(status, 403);
    assert.match(body.message ?? '', /impersonate/);
  }
});

test('a fleet creates, changes and prunes by it all the same', async () => {
  const at = ['-n', home];
  const document = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'production', namespace: home },
    spec: { git: { url: repository.url, ref: 'main' }, prune: true },
  };
  await api.kubectl([...at, 'create', '-f', '-'], { stdin: JSON.stringify(document) });
  const found = () => us.get<EtcdCluster>(resources.clusters, namespace, 'ledger', { signal });
  const kept = { 'kept.yaml': clusterYaml('kept', namespace) };
  await repository.commit({ ...kept, 'ledger.yaml': clusterYaml('ledger', namespace) });
  await cronJobPass(api);
  assert.equal((await found())?.spec.replicas, 3);
  await repository.commit({ ...kept, 'ledger.yaml': clusterYaml('ledger', namespace, { replicas: 5 }) });
  await cronJobPass(api);
  assert.equal((await found())?.spec.replicas, 5);
  await repository.commit(kept);
  await cronJobPass(api);
  const left = await found();
  assert.ok(left === undefined || left.metadata.deletionTimestamp !== undefined, 'it is pruned');
});
