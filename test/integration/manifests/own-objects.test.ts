import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';
import { untilAllowed } from './until-allowed.ts';

/** Each pass reads all that bears our label, and all annotations of our kinds: tenants add little to that. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
await api.kubectl(['create', 'namespace', 'payments']);
for (const [user, role] of [
  ['tenant', 'admin'],
  ['backups', 'cluster-admin'],
] as const)
  await api.kubectl(['-n', 'payments', 'create', 'rolebinding', user, `--clusterrole=${role}`, `--user=${user}`]);
const by = (user: string) => [`--as=${user}`, '-n', 'payments'];
await untilAllowed(
  api.kubectl,
  by('tenant'),
  ['create', 'etcdclusters.etcd.ratchet.dev'],
  ['create', 'networkpolicies'],
);
await untilAllowed(api.kubectl, by('backups'), ['create', 'etcdpeers.etcd.ratchet.dev']);

const label = 'app.kubernetes.io/managed-by';
const labels = { [label]: 'etcd-ratchet', 'etcd.ratchet.dev/cluster': 'orders' };
const named = (name: string) => ({ name, namespace: 'payments', labels });
const container = { name: 'etcd', image: 'registry.example.com/etcd:v3.6.16' };
const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
const selector = { matchLabels: { a: 'b' } };

/** Kinds of which nothing but etcd-ratchet makes one with its label. */
const guarded = [
  { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
  { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 2379 }] } },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { selector, template: pod, serviceName: 'x', replicas: 0 } },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: { selector, maxUnavailable: 1 } },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } },
] as const;
/** Kinds that controllers make with the labels of what they belong to. */
const open = [
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'v1', kind: 'Pod', spec: pod.spec },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
] as const;

function create(user: string, object: object, ...more: readonly string[]) {
  return api.kubectl([...by(user), 'create', '-f', '-', ...more], { stdin: JSON.stringify(object) });
}

const refused = /says that etcd-ratchet made this object: give it another value/;
await until('the label is guarded', async () => {
  const made = create('tenant', { ...guarded[0], metadata: named('first') }, '--dry-run=server');
  return refused.test((await made.then(String, String)) ?? '');
});

for (const object of guarded) {
  const what = `${object.kind.toLowerCase()}/orders`;
  test(`a ${object.kind} gets our label from no tenant, and keeps it when a tenant changes it`, async () => {
    await assert.rejects(create('tenant', { ...object, metadata: named('orders') }), refused);
    await create('tenant', { ...object, metadata: { name: 'orders', namespace: 'payments' } });
    await assert.rejects(api.kubectl([...by('tenant'), 'label', what, `${label}=etcd-ratchet`]), refused);
    await api.kubectl([...by('tenant'), 'label', what, `${label}=Helm`]);
    // Velero and the like bring all back, whoever made it.
    await api.kubectl([...by('tenant'), 'delete', what]);
    await create('backups', { ...object, metadata: named('orders') });
    await api.kubectl([...by('tenant'), 'annotate', what, 'a=b']);
    await api.kubectl([...by('tenant'), 'label', what, `${label}-`]);
  });
}

test('objects that controllers make with our labels are not refused', async () => {
  for (const object of open) await create('tenant', { ...object, metadata: named('orders') }, '--dry-run=server');
});

const cluster = (name: string, bytes: number) => ({
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name, namespace: 'payments', annotations: { a: 'ä'.repeat((bytes - 1) / 2) } },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
});

test('annotations of our kinds hold 64 KiB, and what holds more already may shrink', async () => {
  await create('tenant', cluster('orders', 65_535));
  const orders = 'etcdclusters.etcd.ratchet.dev/orders';
  const tooLarge = /metadata: 65537 bytes of annotations and labels, and at most 65536 are allowed/;
  await assert.rejects(create('tenant', cluster('ads', 65_537)), tooLarge);
  await assert.rejects(api.kubectl([...by('tenant'), 'annotate', orders, 'b=c']), tooLarge);
  await api.kubectl([...by('tenant'), 'annotate', orders, 'b=']);
  const binding = ['validatingadmissionpolicybinding', 'etcd-ratchet-annotations'];
  await api.kubectl(['delete', ...binding]);
  await until('there is no bound', () => create('tenant', cluster('old', 100_001)).catch(() => undefined));
  await api.kubectl(['apply', '-k', install]);
  const old = 'etcdclusters.etcd.ratchet.dev/old';
  await until('there is one again', async () =>
    /100003 bytes/.test(
      await api.kubectl([...by('tenant'), 'annotate', old, 'b=c', '--dry-run=server']).then(String, String),
    ),
  );
  await api.kubectl([...by('tenant'), 'scale', old, '--replicas=5']);
  await api.kubectl([...by('tenant'), 'annotate', '--overwrite', old, `a=${'a'.repeat(90_000)}`]);
});

const prioritised = (kind: 'EtcdCluster' | 'EtcdRestore', priorityClassName: string) => {
  const { spec, ...rest } = cluster('prioritised', 1);
  const whole = { ...spec, podTemplate: { spec: { priorityClassName } } };
  const restore = { backupName: 'nightly', cluster: { name: 'restored', spec: whole } };
  return { ...rest, kind, spec: kind === 'EtcdCluster' ? whole : restore };
};

test('a PriorityClass is for namespaces to which it was offered, and stays where it is used', async () => {
  const preempting = 'etcd-ratchet-member-preempting';
  const notOffered = new RegExp(`${preempting} is not offered to namespace payments; .* kubectl annotate --overwrite`);
  for (const kind of ['EtcdCluster', 'EtcdRestore'] as const) {
    await assert.rejects(create('tenant', prioritised(kind, preempting)), notOffered, kind);
    await create('tenant', prioritised(kind, 'etcd-ratchet-member'), '--dry-run=server');
  }
  const lines = typedIn('integration/manifests/own-objects')('docs/how-to/resources-and-priority.md#priority');
  const [annotate = assert.fail(), patch = assert.fail()] = lines.flatMap(({ text }) => text.trim().split('\n'));
  const argumentsOf = (line: string) => line.replaceAll("'", '').split(' ').slice(1);
  await assert.rejects(api.kubectl([...by('tenant'), ...argumentsOf(patch)]), notOffered);
  await assert.rejects(api.kubectl(['--as=tenant', ...argumentsOf(annotate)]), /forbidden/);
  await api.kubectl(argumentsOf(annotate));
  await until('it is offered', () => create('tenant', prioritised('EtcdCluster', preempting)).catch(() => undefined));
  await api.kubectl(['--as=tenant', ...argumentsOf(patch)]);
  await create('tenant', prioritised('EtcdRestore', preempting), '--dry-run=server');
  await api.kubectl(['annotate', 'namespace', 'payments', 'etcd.ratchet.dev/priority-classes-']);
  await until('it is not any more', async () =>
    notOffered.test(
      await create('tenant', prioritised('EtcdRestore', preempting), '--dry-run=server').then(String, String),
    ),
  );
  await api.kubectl([...by('tenant'), 'scale', 'etcdclusters.etcd.ratchet.dev/prioritised', '--replicas=5']);
});

const many = (length: number, word: string) => Array.from({ length }, (_, index) => `example.com/${word}-${index}`);
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };

for (const [what, metadata, because] of [
  [
    'labels',
    { labels: Object.fromEntries(many(1_500, 'l').map((key) => [key, 'x'.repeat(63)])) },
    /bytes of annotations and labels/,
  ],
  ['finalizers', { finalizers: many(65, 'f') }, /65 finalizers and owners, and at most 64/],
  ['owners', { ownerReferences: many(65, 'o').map((uid) => ({ ...owner, uid })) }, /65 finalizers and owners/],
] as const)
  test(`our kinds take no more ${what} than a pass has memory for`, async () => {
    const large = { ...cluster(what, 3), metadata: { name: what, namespace: 'payments', ...metadata } };
    await assert.rejects(create('tenant', large, '--dry-run=server'), because);
  });
