/** `kubectl ratchet approve` on a real API server: its schema, its resourceVersion, and the verb `approve`. */

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, test } from 'node:test';
import type { ApprovalAsked } from '../../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { annotations, approverOf } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { startApiServer } from '../fleet/api-server.ts';
import { kubectlRatchet } from './kubectl-ratchet.ts';

const api = await startApiServer();
const plugin = await kubectlRatchet(api.kubeconfigPath);
after(async () => {
  await plugin[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
await api.kubectl(['apply', '-k', resolve(import.meta.dirname, '../../../manifests/install')]);
const editor = ['--verb=get,list,update', '--resource=etcdclusters.etcd.ratchet.dev'];
await api.kubectl(['-n', 'default', 'create', 'role', 'editor', ...editor]);
const [editing, approving] = [await plugin.as('editing'), await plugin.as('approving')];
for (const [account, role] of [
  ['editing', '--role=editor'],
  ['approving', '--role=editor'],
  ['approving', '--clusterrole=etcd-ratchet-approve'],
] as const)
  await api.kubectl([
    ...['-n', 'default', 'create', 'rolebinding', `${account}${role.replaceAll(/[^a-z]/g, '-')}`, role],
    `--serviceaccount=default:${account}`,
  ]);

const asked: ApprovalAsked = {
  reason: 'QuorumLost',
  annotation: annotations.recoverQuorum,
  value: 'c1c1/0123456789ab',
  approves: 'the cluster goes on with the data of orders-0, and without the others for ever',
  loses: 'the data of orders-1 for ever',
};

const stored = () => api.kube.get<EtcdCluster>(resources.clusters, 'default', 'orders');
const given = async () => (await stored())?.metadata.annotations?.[asked.annotation];

async function ask(approvals: readonly ApprovalAsked[]): Promise<void> {
  const cluster = (await stored()) ?? assert.fail();
  const status = { observedGeneration: cluster.metadata.generation ?? 0, approvals };
  await api.kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status });
}

await api.kube.create(resources.clusters, {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { namespace: 'default', name: 'orders' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
});
await ask([asked]);

test('a person who may edit and not approve is refused by the API server, in its words', async () => {
  const refused = await until('approvals are guarded', async () => {
    const one = await editing('approve', 'orders', '--yes');
    if (one.code === 1) return one;
    const { metadata, ...rest } = (await stored()) ?? assert.fail();
    await api.kube.update(resources.clusters, { ...rest, metadata: { ...metadata, annotations: {} } });
    return undefined;
  });
  assert.match(refused.stderr, /takes the verb approve/);
  assert.equal(await given(), undefined);
});

test('without a terminal and --yes nothing is approved; with it, exactly what is asked', async () => {
  const silent = await approving('approve', 'orders');
  assert.equal(silent.code, 1);
  assert.match(
    silent.stderr,
    /loses: {4}the data of orders-1 for ever\nerror: nothing was approved: there is no terminal/,
  );
  assert.equal(await given(), undefined);
  const { code, stdout, stderr } = await approving('approve', 'orders', '--yes', '-o', 'json');
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).value, asked.value);
  assert.equal(await given(), asked.value);
  const by = (await stored())?.metadata.annotations?.[approverOf(asked.annotation)];
  assert.equal(by, 'system:serviceaccount:default:approving');
});

test('kubectl explain describes the field, and the API server takes no other annotation in it', async () => {
  assert.match((await plugin.run('explain', 'etcdclusters.status.approvals')).stdout, /may approve.*\n.*loses/s);
  const wrong = { ...asked, annotation: annotations.paused } as unknown as ApprovalAsked;
  await assert.rejects(ask([wrong]), /Unsupported value/);
});
