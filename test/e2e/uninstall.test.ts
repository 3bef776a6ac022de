/** docs/how-to/uninstall.md, typed as its reader would, and what is left afterwards. */

import assert from 'node:assert/strict';
import { mkdtempDisposable, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { startGround } from '../demo/ground.ts';
import { tools } from '../support/cluster/tools.ts';
import type { Block } from '../support/docs/blocks.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { asOf } from './support/runbooks/typing.ts';
import { clusterYaml } from './support/specs.ts';
import { follow } from './support/tutorial.ts';

const page = 'docs/how-to/uninstall.md';
const blocksAt = typedIn('e2e/uninstall');
const checkout = resolve(import.meta.dirname, '../..');
const plural = 'etcdclusters.etcd.ratchet.dev';

// Before the sandbox, which reaches no network.
const helm = await tools.helm.provide();
Object.assign(process.env, tools.helm.environment(helm));
const binaries = await inOwnSandbox();
const ground = await startGround(binaries);
after(() => ground[Symbol.asyncDispose]());
const { kubectl, kubeconfigPath } = ground.cluster;

const inPayments = (...args: readonly string[]) => kubectl(['-n', 'payments', ...args]);
const clusterID = () => inPayments('get', plural, 'orders', '-o', 'jsonpath={.status.clusterID}');
const namesOf = async (...args: readonly string[]) =>
  (await kubectl(['get', ...args, '-o', 'name', '--ignore-not-found'])).split('\n').filter(Boolean);

/** As their reader, in a checkout, with kubectl on the PATH. */
async function typed(blocks: readonly Block[]): Promise<void> {
  await using commands = await mkdtempDisposable(join(tmpdir(), 'uninstall-'));
  await symlink(binaries.kubernetes.kubectl, join(commands.path, 'kubectl'));
  await symlink(helm, join(commands.path, 'helm'));
  const path = `${commands.path}:${process.env.PATH}`;
  await follow(blocks, { cwd: checkout, env: { ...process.env, KUBECONFIG: kubeconfigPath, PATH: path } });
}

function blocksUnder(anchor: string): readonly Block[] {
  return blocksAt(`${page}#${anchor}`);
}

/** The first pass after it was installed, as a person would have it run at once. */
async function pass(name: string): Promise<void> {
  await kubectl(['-n', 'etcd-ratchet', 'create', 'job', '--from=cronjob/etcd-ratchet', name]);
  await kubectl(['-n', 'etcd-ratchet', 'wait', '--for=condition=Complete', '--timeout=60s', `job/${name}`]);
}

test('without etcd-ratchet the members go on, and it finds them again when it returns', {
  timeout: 240_000,
}, async () => {
  await ground.install();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('orders', 'payments', { replicas: 1 }) });
  await pass('first');
  await kubectl(['-n', 'payments', 'wait', '--for=condition=Ready', '--timeout=55s', `${plural}/orders`]);
  const [id, uid] = [await clusterID(), await inPayments('get', 'pod', 'orders-0-0', '-o', 'jsonpath={.metadata.uid}')];

  await typed([...blocksUnder('stop-it-and-keep-everything'), ...blocksUnder('remove-it-and-keep-the-members')]);
  assert.deepEqual(await namesOf('namespace', 'etcd-ratchet'), []);
  const left = await namesOf(
    'clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings',
    '-l',
    'app.kubernetes.io/name=etcd-ratchet',
  );
  assert.deepEqual(left, []);
  assert.deepEqual(await namesOf('priorityclass', 'etcd-ratchet-member'), [
    'priorityclass.scheduling.k8s.io/etcd-ratchet-member',
  ]);
  // Its StatefulSet makes it anew while we are away, with its data.
  await inPayments('delete', 'pod', 'orders-0-0');
  await inPayments('wait', '--for=create', '--timeout=30s', 'pod/orders-0-0');
  await inPayments('wait', '--for=condition=Ready', '--timeout=55s', 'pod/orders-0-0');
  assert.notEqual(await inPayments('get', 'pod', 'orders-0-0', '-o', 'jsonpath={.metadata.uid}'), uid);

  await ground.install();
  await pass('again');
  await inPayments('wait', '--for=condition=Ready', '--timeout=55s', `${plural}/orders`);
  assert.equal(await clusterID(), id);
});

test('after the whole page nothing is left, and data go only where it says so', { timeout: 240_000 }, async () => {
  const blocks = blocksUnder('remove-everything-data-included');
  const goesAt = blocks.findIndex(({ text }) => text.includes('delete pvc'));
  assert.ok(goesAt > 0);
  await typed(blocks.slice(0, goesAt));
  assert.deepEqual(await namesOf('-n', 'payments', 'pvc'), ['persistentvolumeclaim/orders-0']);

  // Each block is typed into the same terminal: it knows the namespace from the one before.
  await typed(blocks.slice(goesAt - 1));
  const kinds = ['clusterroles,clusterrolebindings,priorityclasses,customresourcedefinitions,namespaces'];
  const ours = [
    ...(await namesOf(...kinds)),
    ...(await namesOf('validatingadmissionpolicies,validatingadmissionpolicybindings')),
  ].filter((name) => name.includes('ratchet'));
  assert.deepEqual(ours, []);
  const within = 'pods,services,statefulsets,jobs,pvc,secrets,poddisruptionbudgets,networkpolicies,rolebindings,roles';
  assert.deepEqual(await namesOf('-n', 'payments', within), []);
  assert.deepEqual(await namesOf('-n', 'payments', 'serviceaccounts,configmaps'), [
    'serviceaccount/default',
    'configmap/kube-root-ca.crt',
  ]);
});

test('from there, the page about Helm installs it again, and its test of the release passes', {
  timeout: 240_000,
}, async () => {
  // The local cluster pulls our image from its own name only.
  const image = { 'registry.example.com/etcd-ratchet': 'ghcr.io/etcd-ratchet/etcd-ratchet' };
  await typed(asOf(image, blocksAt('docs/how-to/helm.md:1')));
  assert.deepEqual(await namesOf('-n', 'etcd-ratchet', 'cronjob'), ['cronjob.batch/etcd-ratchet']);
});
