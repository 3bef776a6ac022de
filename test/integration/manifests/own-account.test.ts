import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { kustomizationOf } from '../../../manifests/helm/chart.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { connectEtcd } from '../../../reconcile/clients/etcd.ts';
import { stepClusters } from '../../../reconcile/cluster/pass.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import { install } from './api-server.ts';
import { answered, applied, startInstallation } from './own-account.ts';
import { context, type Fields, job, noToken, ofHost, pod, pods, restricted, set, volume, volumes } from './ways-out.ts';

/** What somebody may do who has the token of a tick: what a tick does, and not to take the cluster. */

const { api, us, signal, tried } = await startInstallation(['storageMigration']);
after(() => api[Symbol.asyncDispose]());
const namespace = 'payments';
const blocksAt = typedIn('integration/manifests/own-account');

test('until the policies count', async () => {
  await until('a privileged Job is refused', async () =>
    restricted.test(await tried(resources.jobs, job(context({ privileged: true, allowPrivilegeEscalation: true })))),
  );
  await until('a Secret of another type is refused', async () => (await tried(resources.secrets, secret)) !== 'done');
});

for (const [what, [spec, says]] of Object.entries(pods))
  test(`the token of a tick makes no Job and no StatefulSet with ${what}`, async () => {
    assert.match(await tried(resources.jobs, job(spec)), says);
    if (!what.startsWith('a class')) assert.match(await tried(resources.statefulSets, set(spec)), says);
  });

test('nor is a StatefulSet of its own changed to such a shape', async () => {
  await us.create(resources.statefulSets, set(pod()) as unknown as KubeObject, { signal });
  /** Its controller may write a status between the look and the change. */
  const changed = async (shape: Fields) => {
    const { spec } = set(shape) as unknown as StatefulSet;
    let said = '';
    await until('no other change comes between', async () => {
      const live = await us.get<StatefulSet>(resources.statefulSets, namespace, 'own', { signal });
      said = await answered(us.update(resources.statefulSets, { ...live, spec } as StatefulSet, { signal }));
      return !said.startsWith('409');
    });
    return said;
  };
  assert.match(await changed(volume({ hostPath: { path: '/' } })), volumes);
  assert.equal(await changed(volume({ emptyDir: {} })), 'done');
});

test('nor does it act as a fleet that is beside it with a token of its account in a Job', async () => {
  const fleet = pod({ serviceAccountName: 'fleet', automountServiceAccountToken: true });
  assert.match(await tried(resources.jobs, job(fleet, 'etcd-ratchet')), noToken);
  const privileged = pod({ serviceAccountName: 'etcd-ratchet', hostPID: true });
  assert.match(await tried(resources.jobs, job(privileged, 'etcd-ratchet')), ofHost);
});

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'own', namespace, annotations: { 'kubernetes.io/service-account.name': 'default' } },
  type: 'kubernetes.io/service-account-token',
};
const plain = (kind: string, more: Fields, name = 'own', where = namespace) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: where },
  ...more,
});

for (const [what, resource, object, says] of [
  ['a token of another account', resources.secrets, secret, /makes Secrets of type kubernetes.io\/tls only/],
  ['a Secret of any type', resources.secrets, plain('Secret', {}), /makes Secrets of type/],
  ['its own settings', resources.configMaps, plain('ConfigMap', {}, 'etcd-ratchet-settings'), /no settings of its own/],
  [
    'a Service that takes an address over',
    resources.services,
    plain('Service', { spec: { ports: [{ port: 1 }], externalIPs: ['10.0.0.1'] } }),
    /no Service with externalIPs/,
  ],
  [
    'a Service that is a name of another host',
    resources.services,
    plain('Service', { spec: { type: 'ExternalName', externalName: 'example.com' } }),
    /no Service with externalIPs/,
  ],
] as const)
  test(`the token of a tick writes no ${what}`, async () => {
    assert.match(await tried(resource, object), says);
  });

test('it has no right to make pods, or to change those that run', async () => {
  const named = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own', namespace }, spec: pod() };
  assert.match(await tried(resources.pods, named), /^403 .*cannot create resource "pods"/);
  const ofToken = ['--as=system:serviceaccount:etcd-ratchet:etcd-ratchet', '-n', namespace, 'auth', 'can-i'];
  for (const [verb, what] of [
    ['update', 'pods/ephemeralcontainers'],
    ['patch', 'pods/ephemeralcontainers'],
    ['create', 'pods/exec'],
    ['create', 'serviceaccounts/token'],
  ] as const)
    await assert.rejects(api.kubectl([...ofToken, verb, what]), `${verb} ${what}`);
  await api.kubectl([...ofToken, 'create', 'jobs']);
});

for (const platform of ['kube-system', 'kube-public', 'kube-node-lease', 'openshift-etcd'])
  test(`in ${platform} it writes nothing unless an admin lets clusters in`, async () => {
    await api.kubectl(['create', 'namespace', platform]).catch((error: unknown) => {
      assert.match(String(error), /already exists/);
    });
    const refused = new RegExp(
      `^403 .*namespace ${platform} is of the platform: .*kubectl label namespace ${platform} etcd.ratchet.dev/clusters=true`,
    );
    const map = plain('ConfigMap', { data: { mapUsers: '' } }, 'aws-auth', platform);
    const peer = peerOf();
    const own = statefulSet({ ...peer, metadata: { ...peer.metadata, namespace: platform } });
    assert.match(await tried(resources.configMaps, map), refused);
    assert.match(await tried(resources.statefulSets, own), refused);
    assert.match(await tried(resources.jobs, job(pod(), platform)), refused);
    const { metadata } = JSON.parse(
      await api.kubectl(['create', '-f', '-', '-o', 'json'], { stdin: JSON.stringify(map) }),
    );
    const gone = us.delete(resources.configMaps, platform, 'aws-auth', { preconditions: { uid: metadata.uid } });
    assert.match(await answered(gone), refused);

    for (const { text } of blocksAt('docs/how-to/install.md#what-its-own-account-may-do:2'))
      await api.kubectl(text.trim().replace('kube-system', platform).split(' ').slice(1));
    await until('it is let in', async () => (await tried(resources.statefulSets, own)) === 'done');
    assert.equal(await tried(resources.jobs, job(pod(), platform)), 'done');
  });

test('a policy for nodes and a fleet keep their spec, also where stored objects are moved', async () => {
  const policy = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'all' } };
  const stdin = JSON.stringify({ ...policy, spec: { nodeSelector: {} } });
  const found = JSON.parse(await api.kubectl(['create', '-f', '-', '-o', 'json'], { stdin }));
  const told = { ...found, spec: { nodeSelector: {}, reboot: { method: 'Command', command: ['sh'] } } };
  const changed = us.update(resources.nodePolicies, told, { signal });
  assert.match(await answered(changed), /^403 .*changes no spec of an EtcdFleet or EtcdNodePolicy/);
  assert.equal(await answered(us.update(resources.nodePolicies, found, { signal })), 'done');
});

test('where its own account is refused, the cluster says why, and what an admin can do', async () => {
  const name = 'orders';
  const spec = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' } };
  await api.kubectl(['label', 'namespace', 'kube-system', 'etcd.ratchet.dev/clusters-']);
  const wanted = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata: { name }, spec };
  await api.kubectl(['-n', 'kube-system', 'create', '-f', '-'], { stdin: JSON.stringify(wanted) });
  const read = () => us.get<EtcdCluster>(resources.clusters, 'kube-system', name, { signal });
  const context = {
    ...{ kube: us, holder: { pod: 'etcd-ratchet/tick', uid: 'uid' }, signal, dryRun: false },
    ...{ etcd: async () => connectEtcd(), wire: async () => undefined, nonce: () => 'nonce', log: () => undefined },
  };
  const told = await until('it says so', async () => {
    await stepClusters(context, { clusters: [(await read()) ?? assert.fail()] });
    const found = await read();
    return found?.status?.conditions?.find(({ message }) => message?.includes('of the platform'));
  });
  assert.match(told.message ?? '', /kubectl label namespace kube-system etcd.ratchet.dev\/clusters=true/);
});

test('an installation in one namespace is held to the same, once an admin applies the policies', async () => {
  await applied(api, kustomizationOf(true, []), 'payments');
  for (const { text } of blocksAt('docs/how-to/install.md#what-its-own-account-may-do:1'))
    await api.kubectl(text.trim().replace('manifests/install', install).split(' ').slice(1));
  const theirs = await api.kubeOf({ namespace: 'payments', name: 'etcd-ratchet' });
  const tries = (object: unknown) => answered(theirs.dryRun(resources.jobs, object as KubeObject, { signal }));
  assert.match(await tries(job(pod({ hostPID: true }))), ofHost);
  assert.match(await tries(job(pod({ serviceAccountName: 'fleet', automountServiceAccountToken: true }))), noToken);
  assert.equal(
    await tries(job(pod({ serviceAccountName: 'etcd-ratchet', automountServiceAccountToken: true }))),
    'done',
  );
});

test('an admin and a tenant make what they made before', async () => {
  const hostile = pod({ hostPID: true, volumes: [{ name: 'v', hostPath: { path: '/' } }] });
  for (const object of [
    job(hostile),
    { ...set(hostile), metadata: { name: 'theirs', namespace } },
    job(hostile, 'kube-system'),
    secret,
  ]) {
    const stdin = JSON.stringify(object);
    await api.kubectl(['create', '--dry-run=server', '-f', '-'], { stdin });
  }
  await api.kubectl([
    '-n',
    namespace,
    'create',
    'rolebinding',
    'ci',
    '--clusterrole=admin',
    '--serviceaccount=payments:etcd-ratchet-ci',
  ]);
  const ci = ['--as=system:serviceaccount:payments:etcd-ratchet-ci', '-n', namespace];
  await until('the tenant may', () =>
    api.kubectl([...ci, 'create', '--dry-run=server', '-f', '-'], { stdin: JSON.stringify(job(hostile)) }),
  );
});
