import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { install, startApiServer } from './api-server.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);

const us = 'system:serviceaccount:etcd-ratchet:etcd-ratchet';
const fleet = 'system:serviceaccount:etcd-ratchet:fleet';

test('the installation applies twice, and the second time changes nothing', async () => {
  const lines = (await api.kubectl(['apply', '-k', install])).trim().split('\n');
  assert.ok(lines.length > 10);
  for (const line of lines) assert.match(line, / unchanged$/);
});

test('the namespaced variant is taken by the server, without anything cluster-wide', async () => {
  const rendered = await api.kubectl(['kustomize', `${install}/namespaced`]);
  const kinds = parseAllDocuments(rendered).map((document) => String(document.get('kind')));
  assert.deepEqual(new Set(kinds), new Set(['ServiceAccount', 'Role', 'RoleBinding', 'CronJob', 'NetworkPolicy']));
  await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: rendered });
  assert.doesNotMatch(rendered, /priorityClassName/, 'a pod with a class that is not there is refused');
  assert.match(rendered, /args:\n +- --namespace=\$\(POD_NAMESPACE\)/);
});

for (const [who, as, verb, what, where] of [
  ['etcd-ratchet', us, 'create', 'statefulsets.apps', 'payments'],
  ['etcd-ratchet', us, 'update', 'etcdclusters.etcd.ratchet.dev/status', 'payments'],
  ['etcd-ratchet', us, 'update', 'etcdpeers.etcd.ratchet.dev', 'payments'],
  ['etcd-ratchet', us, 'delete', 'persistentvolumeclaims', 'payments'],
  ['etcd-ratchet', us, 'create', 'pods/eviction', 'payments'],
  ['etcd-ratchet', us, 'create', 'events.events.k8s.io', 'payments'],
  ['etcd-ratchet', us, 'list', 'events.events.k8s.io', 'payments'],
  ['etcd-ratchet', us, 'watch', 'pods', 'payments'],
  ['etcd-ratchet', us, 'get', 'secrets', 'payments'],
  ['etcd-ratchet', us, 'create', 'secrets', 'payments'],
  ['etcd-ratchet', us, 'get', 'secrets', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'impersonate', 'serviceaccounts/fleet', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'get', 'cronjobs.batch', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'create', 'jobs.batch', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'create', 'jobs.batch', 'payments'],
  ['etcd-ratchet', us, 'delete', 'jobs.batch', 'payments'],
  ['etcd-ratchet', us, 'get', 'nodes', ''],
  ['etcd-ratchet', us, 'get', 'priorityclasses.scheduling.k8s.io/etcd-ratchet-member', ''],
  ['etcd-ratchet', us, 'list', 'nodes', ''],
  ['etcd-ratchet', us, 'get', 'persistentvolumes', ''],
  // For an EtcdRestore.
  ['etcd-ratchet', us, 'create', 'etcdclusters.etcd.ratchet.dev', 'payments'],
] as const) {
  test(`${who} may ${verb} ${what} in ${where}`, async () => {
    assert.equal(await answer(as, verb, what, where), 'yes');
  });
}

for (const [who, as, verb, what, where] of [
  ['etcd-ratchet', us, 'list', 'secrets', 'payments'],
  ['etcd-ratchet', us, 'watch', 'secrets', 'payments'],
  ['etcd-ratchet', us, 'list', 'secrets', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'impersonate', 'serviceaccounts/admin', 'payments'],
  ['etcd-ratchet', us, 'impersonate', 'users', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'create', 'pods', 'payments'],
  ['etcd-ratchet', us, 'list', 'jobs.batch', 'payments'],
  ['etcd-ratchet', us, 'list', 'persistentvolumes', ''],
  ['etcd-ratchet', us, 'update', 'nodes', ''],
  ['etcd-ratchet', us, 'delete', 'etcdclusters.etcd.ratchet.dev', 'payments'],
  ['etcd-ratchet', us, 'patch', 'etcdclusters.etcd.ratchet.dev', 'payments'],
  ['etcd-ratchet', us, 'update', 'etcdfleets.etcd.ratchet.dev', 'etcd-ratchet'],
  ['etcd-ratchet', us, 'update', 'roles.rbac.authorization.k8s.io', 'etcd-ratchet'],
  ['a fleet', fleet, 'patch', 'etcdclusters.etcd.ratchet.dev', 'payments'],
  ['a fleet', fleet, 'patch', 'etcdclusters.etcd.ratchet.dev', 'etcd-ratchet'],
  ['a fleet', fleet, 'update', 'etcdclusters.etcd.ratchet.dev/status', 'payments'],
  ['a fleet', fleet, 'get', 'secrets', 'etcd-ratchet'],
  ['a fleet', fleet, 'create', 'statefulsets.apps', 'payments'],
] as const) {
  test(`${who} may not ${verb} ${what} in ${where}`, async () => {
    assert.equal(await answer(as, verb, what, where), 'no');
  });
}

test('etcd-ratchet acts as the fleet in its namespace, and as no other account elsewhere', async () => {
  const tokens = '/api/v1/namespaces/etcd-ratchet/serviceaccounts/etcd-ratchet/token';
  const { body } = await api.send('POST', tokens, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' });
  const { token } = body.status as { token: string };
  const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const act = (user: string) =>
    api.sendAs(
      { token, headers: { 'impersonate-user': user } },
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      whoAmI,
    );

  const asFleet = await act(fleet);
  assert.equal(asFleet.status, 201, asFleet.body.message);
  // The API server knows a service account's groups: naming them would take the right to impersonate groups.
  assert.deepEqual((asFleet.body.status as { userInfo: { groups: string[] } }).userInfo.groups.toSorted(), [
    'system:authenticated',
    'system:serviceaccounts',
    'system:serviceaccounts:etcd-ratchet',
  ]);
  for (const other of ['system:serviceaccount:kube-system:default', 'admin']) {
    assert.equal((await act(other)).status, 403, other);
  }
});

test("a tick's pod passes the namespace's restricted Pod Security", async () => {
  const { body } = await api.send('GET', '/apis/batch/v1/namespaces/etcd-ratchet/cronjobs/etcd-ratchet');
  const { spec } = body as { spec: { jobTemplate: { spec: { template: object } } } };
  const pod = { apiVersion: 'v1', kind: 'Pod', ...spec.jobTemplate.spec.template };
  const named = { ...pod, metadata: { name: 'tick', namespace: 'etcd-ratchet' } };
  const made = await api.send('POST', '/api/v1/namespaces/etcd-ratchet/pods?dryRun=All', named);
  assert.equal(made.status, 201, made.body.message);
  const { priority, preemptionPolicy } = made.body.spec as { priority: number; preemptionPolicy: string };
  assert.deepEqual({ priority, preemptionPolicy }, { priority: 100_000_000, preemptionPolicy: 'Never' });
});

test('a pod that asks for more than restricted is refused there', async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'greedy', namespace: 'etcd-ratchet' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  };
  const { status, body } = await api.send('POST', '/api/v1/namespaces/etcd-ratchet/pods?dryRun=All', pod);
  assert.equal(status, 403, body.message);
});

/** `yes` or `no`, by a review rather than by `kubectl auth can-i`, whose "no" is also its failure. */
async function answer(user: string, verb: string, what: string, namespace: string): Promise<string> {
  const [resourceAndGroup = '', last] = what.split('/');
  const [resource = '', ...group] = resourceAndGroup.split('.');
  const detail = ['impersonate', 'get'].includes(verb) ? { name: last } : { subresource: last };
  const resourceAttributes = { namespace, verb, resource, group: group.join('.'), ...detail };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  };
  const { status, body } = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
  assert.equal(status, 201, body.message);
  return (body.status as { allowed: boolean }).allowed ? 'yes' : 'no';
}
