import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { takeJob } from '../../../manifests/render/backup-jobs.ts';
import { inputsHashOf } from '../../../manifests/render/inputs-hash.ts';
import { podSelector } from '../../../manifests/render/names.ts';
import { networkPolicy } from '../../../manifests/render/network-policy.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { admits, type Pod, podOf, rendered } from '../../support/network/policies.ts';
import { backup as backupDocument } from './api-documents.ts';
import { clusterOf, peerOf } from './build-fixtures.ts';

const manifests = join(import.meta.dirname, '../../../manifests');

/** All YAML of these directories, as kustomize puts it together. */
function installed(...directories: readonly string[]) {
  const files = directories.flatMap((directory) =>
    readdirSync(join(manifests, directory))
      .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
      .map((file) => readFileSync(join(manifests, directory, file), 'utf8')),
  );
  return rendered(files.join('\n---\n'));
}

const base = installed('install/workload');
const tick = base.pod('CronJob');
const namespaces = {
  'etcd-ratchet': { 'app.kubernetes.io/name': 'etcd-ratchet' },
  payments: {},
  shop: { team: 'shop' },
  prometheus: { 'etcd.ratchet.dev/monitoring': 'true' },
};

const member = podOf(podTemplate(peerOf()) as never, 'payments');
const other = {
  ...member,
  labels: { ...member.labels, ...podSelector('invoices'), 'app.kubernetes.io/instance': 'invoices' },
};
const jobPod = ({ spec }: { readonly spec: object }) => podOf((spec as { template: never }).template, 'payments');
const recovery = jobPod(recoveryJob(peerOf(), { image: 'us', id: 'r', attempt: 1, withoutCopy: false }));
const location = { scheme: 'pvc', bucket: 'backups', path: 'a.db' } as const;
const order = { image: 'us', attempt: 1, location, endpoints: [] };
const backup = jobPod(takeJob(backupOf('orders'), order));
const otherBackup = jobPod(takeJob(backupOf('invoices'), order));
const app = (namespace: string, labels = {}): Pod => ({ namespace, labels: { app: 'a', ...labels } });
const prometheus = app('prometheus');
const page = installed('install/components/page').pod('Deployment');

function backupOf(clusterName: string): EtcdBackup {
  return {
    ...backupDocument,
    metadata: { ...backupDocument.metadata, uid: 'b' },
    spec: { ...backupDocument.spec, clusterName },
  };
}

type Row = readonly [what: string, from: Pod | string, to: Pod, port: number, isAdmitted: boolean];

function hold(settings: EtcdClusterSpec['networkPolicy'], rows: readonly Row[]): void {
  const spec = settings && { networkPolicy: settings };
  const policies = [networkPolicy(clusterOf(spec)), ...base.policies];
  for (const [what, from, to, port, isAdmitted] of rows) {
    assert.equal(admits(policies, namespaces, { from, to, port }), isAdmitted, `${what}, to ${port}`);
  }
}

const always: readonly Row[] = [
  ['a member', member, member, 2380, true],
  ['a member', member, member, 2379, true],
  ['a member', member, member, 2381, false],
  ['a member of another cluster', other, member, 2380, false],
  ['a pod beside it', app('payments'), member, 2380, false],
  ['a pod that takes a label of ours in another namespace', { ...tick, namespace: 'shop' }, member, 2380, false],
  ['an application', app('shop'), member, 2380, false],
  ['an address outside', '192.0.2.1', member, 2380, false],
  ['an invocation', tick, member, 2379, true],
  ['an invocation', tick, member, 2380, true],
  ['an invocation', tick, member, 2381, true],
  ['a pod that takes a label of ours in another namespace', { ...tick, namespace: 'shop' }, member, 2381, false],
  ['an invocation of an installation for one namespace', { ...tick, namespace: 'payments' }, member, 2379, true],
  ['the page', page, member, 2379, true],
  ['a backup', backup, member, 2379, true],
  ['a backup', backup, member, 2380, false],
  ['a pod beside it, to any other port', app('payments'), member, 22, false],
  ['a member, to a backup', member, backup, 8080, false],
  ['an application, to a recovery', app('shop'), recovery, 2380, false],
  ['a member, to an invocation', member, tick, 8080, false],
  ['an application, to another cluster', app('shop'), other, 2380, true],
];

test('by default clients come from everywhere, and metrics are for monitoring and etcd-ratchet', () => {
  for (const settings of [undefined, {}, { mode: 'Enabled' }] as const) {
    hold(settings, [
      ...always,
      ['an application beside it', app('payments'), member, 2379, true],
      ['an application elsewhere', app('shop'), member, 2379, true],
      ['an address outside', '192.0.2.1', member, 2379, true],
      ['Prometheus', prometheus, member, 2381, true],
      ['an application', app('shop'), member, 2381, false],
      ['an address outside', '192.0.2.1', member, 2381, false],
    ]);
  }
});

test('clients come from where the spec says; etcd-ratchet, backups and members get through', () => {
  const clients = [
    { namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: { matchLabels: { etcd: 'yes' } } },
    { podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['cart'] }] } },
    { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.128/25'] } },
  ] as const;
  hold({ clients }, [
    ...always,
    ['one that is named', app('shop', { etcd: 'yes' }), member, 2379, true],
    ['one beside it that is named', app('payments', { app: 'cart' }), member, 2379, true],
    ['the same elsewhere', app('prometheus', { app: 'cart' }), member, 2379, false],
    ['one that is not named', app('shop'), member, 2379, false],
    ['one beside it', app('payments'), member, 2379, false],
    ['an address that is named', '192.0.2.1', member, 2379, true],
    ['an address that is left out', '192.0.2.200', member, 2379, false],
    ['a backup of another cluster', otherBackup, member, 2379, false],
  ]);
});

test('an empty list of clients or of monitoring admits etcd-ratchet, not all', () => {
  hold({ clients: [], monitoring: [] }, [
    ...always,
    ['an application', app('shop'), member, 2379, false],
    ['an address outside', '192.0.2.1', member, 2379, false],
    ['Prometheus', prometheus, member, 2381, false],
    ['an address outside', '192.0.2.1', member, 2381, false],
  ]);
});

test('monitoring comes from where the spec says', () => {
  hold({ monitoring: [{ podSelector: {} }] }, [
    ...always.filter(([, from, , port]) => !(from === member && port === 2381)),
    ['a pod beside it', app('payments'), member, 2381, true],
    ['Prometheus', prometheus, member, 2381, false],
  ]);
});

test('what follows from the spec, and from the owner, is told by the hash', () => {
  const closed = { networkPolicy: { clients: [] } };
  assert.notEqual(inputsHashOf(networkPolicy(clusterOf())), inputsHashOf(networkPolicy(clusterOf(closed))));
  assert.ok(isControlledBy(networkPolicy(clusterOf()), 'cluster-uid'));
});

test('no pod connects to an invocation or to the page; to the webhook server by its port', () => {
  const hooks = installed('install/workload', 'install/components/webhooks');
  const server = hooks.pod('Deployment');
  for (const from of [app('shop'), app('etcd-ratchet'), member, '192.0.2.1']) {
    const open = (policies: typeof base.policies, to: Pod, port = 8080) =>
      admits(policies, namespaces, { from, to, port });
    assert.ok(!open(base.policies, tick));
    assert.ok(!open(base.policies, page));
    assert.ok(open(hooks.policies, server));
    assert.ok(!open(hooks.policies, server, 8081));
    assert.ok(!open(hooks.policies, tick));
    const shared = installed('install/workload', 'install/components/page-shared').policies;
    const named = { ...page, ports: { http: 8080 } };
    assert.ok(open(shared, named) && !open(shared, named, 9229) && !open(shared, tick));
  }
});

for (const which of ['webhooks', 'events'] as const) {
  test(`Knative reaches its Service of ${which} by the queue-proxy only`, () => {
    const { policies, pod } = installed('install/workload', `knative/${which}`);
    const to = pod('Service');
    const from = app('knative-serving');
    for (const port of [8012, 8022, 9090]) assert.ok(admits(policies, namespaces, { from, to, port }), `${port}`);
    assert.ok(!admits(policies, namespaces, { from, to, port: 8080 }));
    assert.ok(!admits(policies, namespaces, { from, to: pod('CronJob'), port: 8012 }));
  });
}

test('the evaluator knows what Kubernetes does with selectors that are empty or absent', () => {
  const to = app('payments');
  const from = app('shop');
  const policy = (spec: object) => [{ metadata: { namespace: 'payments' }, spec: { podSelector: {}, ...spec } }];
  const open = (spec: object) => admits(policy(spec), namespaces, { from, to, port: 80 });
  assert.ok(admits([], namespaces, { from, to, port: 80 }), 'no policy');
  assert.ok(!open({}), 'no rules');
  assert.ok(open({ policyTypes: ['Egress'] }), 'about where it connects to');
  assert.ok(open({ ingress: [{}] }), 'from everywhere');
  assert.ok(open({ ingress: [{ from: [] }] }), 'an empty list is everywhere');
  assert.ok(!open({ ingress: [{ from: [{ podSelector: {} }] }] }), 'all pods of the namespace of the policy');
  assert.ok(open({ ingress: [{ from: [{ namespaceSelector: {} }] }] }), 'all namespaces');
  const notIn = { matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['y'] }] };
  assert.ok(open({ ingress: [{ from: [{ namespaceSelector: notIn }] }] }), 'what has no such label');
  const named = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
  assert.ok(open({ ingress: [{ from: [{ namespaceSelector: named }] }] }), 'the name of a namespace is a label');
});
