import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { approvals, approverOf } from '../../../manifests/render/names.ts';
import { until } from '../../e2e/support/until.ts';

import { install, startApiServer } from './api-server.ts';
import { untilAllowed } from './until-allowed.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
await api.kubectl(['create', 'namespace', 'payments']);
for (const [user, role] of [
  ['viewer', 'view'],
  ['on-call', 'edit'],
  ['lead', 'admin'],
  ['approver', 'edit'],
  ['approver', 'etcd-ratchet-approve'],
] as const) {
  await api.kubectl([
    '-n',
    'payments',
    'create',
    'rolebinding',
    `${user}-${role}`,
    `--clusterrole=${role}`,
    `--user=${user}`,
  ]);
}

// Let in, as the refusal of a fleet says it. kubectl reads before it annotates; a fleet does not.
for (const role of ['etcd-ratchet-fleet', 'view']) {
  const account = '--serviceaccount=etcd-ratchet:fleet';
  await api.kubectl(['-n', 'payments', 'create', 'rolebinding', `fleet-${role}`, `--clusterrole=${role}`, account]);
}

const as = (user: string) => (args: readonly string[], stdin?: string) =>
  api.kubectl([`--as=${user}`, '-n', 'payments', ...args], stdin === undefined ? {} : { stdin });
const orders = 'etcdclusters.etcd.ratchet.dev/orders';
const cluster = JSON.stringify({
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'payments' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
});
const fleet = JSON.stringify({
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdFleet',
  metadata: { name: 'production', namespace: 'payments' },
  spec: { git: { url: 'https://git.example.com/etcd.git', ref: 'main', path: 'clusters' } },
});

// Roles are aggregated by a controller, and a policy is in force a moment after it was made.
const by = (user: string) => [`--as=${user}`, '-n', 'payments'];
await untilAllowed(api.kubectl, by('viewer'), ['get', 'etcdclusters.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, by('lead'), ['create', 'etcdfleets.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, by('approver'), ['update', 'etcdclusters.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, by('approver'), ['approve', 'etcdclusters.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, by('system:serviceaccount:etcd-ratchet:fleet'), [
  'get',
  'etcdclusters.etcd.ratchet.dev',
]);
await until('on call may make a cluster', () => as('on-call')(['apply', '-f', '-'], cluster).catch(() => undefined));
await until('approvals are guarded', async () => {
  const set = as('on-call')(['annotate', '--overwrite', orders, `${approvals[0]}=x`, '--dry-run=server']);
  return (await set.then(() => undefined, String))?.includes('takes the verb approve');
});

test('who may edit a namespace pauses, scales, deletes and applies its clusters', async () => {
  const onCall = as('on-call');
  await onCall(['annotate', orders, 'etcd.ratchet.dev/paused=true']);
  await onCall(['scale', orders, '--replicas=5']);
  await onCall(['delete', orders, '--dry-run=server']);
  await assert.rejects(onCall(['apply', '-f', '-'], fleet), /etcdfleets.* is forbidden/s);
  await assert.rejects(onCall(['get', 'etcdclusters.etcd.ratchet.dev', '-A']), /is forbidden/);
});

test('who may view a namespace changes nothing, and an admin of it makes fleets too', async () => {
  await as('viewer')(['get', orders]);
  await assert.rejects(as('viewer')(['annotate', orders, 'a=b']), /is forbidden/);
  await as('lead')(['apply', '-f', '-', '--dry-run=server'], fleet);
});

for (const approval of approvals) {
  test(`${approval} takes the right to approve, and to call it off takes none`, async () => {
    for (const user of ['on-call', 'lead', 'system:serviceaccount:etcd-ratchet:fleet']) {
      await assert.rejects(
        as(user)(['annotate', '--overwrite', orders, `${approval}=x`]),
        /takes the verb approve/,
        user,
      );
    }
    const named = `${approverOf(approval)}=approver`;
    await as('approver')(['annotate', '--overwrite', orders, `${approval}=x`, named]);
    // It stays as it is while others change the rest.
    await as('on-call')(['annotate', '--overwrite', orders, 'etcd.ratchet.dev/paused=false']);
    await assert.rejects(as('on-call')(['annotate', '--overwrite', orders, `${approval}=y`]), /takes the verb approve/);
    await as('on-call')(['annotate', orders, `${approval}-`]);
  });
}

test('an approval that is applied with the resource takes the right, too', async () => {
  const approved = JSON.parse(cluster) as { metadata: { name: string; annotations?: object } };
  approved.metadata = {
    ...approved.metadata,
    name: 'ads',
    annotations: { [approvals[0]]: 'x', [approverOf(approvals[0])]: 'approver' },
  };
  const apply = (user: string) => as(user)(['create', '-f', '-', '--dry-run=server'], JSON.stringify(approved));
  await assert.rejects(apply('on-call'), /takes the verb approve/);
  await apply('approver');
});
