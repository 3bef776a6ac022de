import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { NetworkSource } from '../../../manifests/api/network-policy.ts';
import { networkPolicy } from '../../../manifests/render/network-policy.ts';
import { fullCluster, cluster as smallCluster } from '../../unit/manifests/api-documents.ts';
import { beyond, refusedSources, takenSources } from '../../unit/manifests/network-sources.ts';
import { shareApiServer } from '../shared-api-server.ts';
import { install } from './api-server.ts';

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

const clusters = '/apis/etcd.ratchet.dev/v1alpha1/namespaces/default/etcdclusters';
const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
type Settings = NonNullable<EtcdCluster['spec']['networkPolicy']>;

for (const [what, settings] of [
  ['by default', {}],
  ['with everything set', fullCluster.spec.networkPolicy ?? {}],
  ['with empty lists', { clients: [], monitoring: [] }],
  [
    'with empty selectors, labels, expressions, values and exceptions',
    {
      clients: [
        { podSelector: {} },
        { namespaceSelector: {} },
        { podSelector: { matchLabels: {}, matchExpressions: [] }, namespaceSelector: {} },
        { podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: [] }] } },
        { ipBlock: { cidr: '0.0.0.0/0', except: [] } },
      ],
    },
  ],
] as const satisfies readonly (readonly [string, Settings])[]) {
  test(`the API server takes a cluster's network policy ${what}, and changes nothing of its spec`, async () => {
    const metadata = { ...fullCluster.metadata, name: 'orders', uid: 'cluster-uid' };
    const cluster: EtcdCluster = { ...fullCluster, metadata, spec: { ...fullCluster.spec, networkPolicy: settings } };
    const wanted = networkPolicy(cluster);
    const { status, body } = await api.send('POST', `${path}?dryRun=All`, wanted);
    assert.equal(status, 201, body.message);
    // Else it would be corrected in every step.
    assert.deepEqual(body.spec, wanted.spec);
  });
}

function bothFrom(source: NetworkSource) {
  const settings = { clients: [source] };
  const spec = { ...smallCluster.spec, networkPolicy: settings };
  const cluster: EtcdCluster = { ...smallCluster, spec };
  const owned = { ...cluster, metadata: { ...cluster.metadata, uid: 'cluster-uid' } };
  return Promise.all([
    api.send('POST', `${clusters}?dryRun=All`, cluster),
    api.send('POST', `${path}?dryRun=All`, networkPolicy(owned)),
  ]);
}

test('a source that the CRD takes makes a network policy that the API server takes', async () => {
  for (const source of takenSources) {
    const [cluster, policy] = await bothFrom(source);
    const said = JSON.stringify({ source, cluster: cluster.body.message, policy: policy.body.message });
    assert.deepEqual([cluster.status, policy.status], [201, 201], said);
  }
});

test('a source of which the API server refuses a network policy is refused by the CRD', async () => {
  const { body } = await api.send('GET', '/version');
  const minor = Number.parseInt((body as unknown as { readonly minor: string }).minor, 10);
  for (const [source, says] of refusedSources) {
    const [cluster, policy] = await bothFrom(source);
    const said = JSON.stringify({ source, cluster: cluster.body.message, policy: policy.body.message });
    assert.deepEqual([cluster.status, policy.status], [422, says === beyond && minor < 36 ? 201 : 422], said);
    // A rule that fails to evaluate refuses too, but tells a person nothing.
    assert.doesNotMatch(cluster.body.message ?? '', /failed rule|no such overload|no such key|evaluat/, said);
  }
});

test('the API server takes every network policy of the installation and of Knative', async () => {
  for (const directory of ['install', 'knative/webhooks', 'knative/events']) {
    const rendered = await api.kubectl(['kustomize', `${install}/../${directory}`]);
    const policies = rendered.split(/^---$/m).filter((document) => /^kind: NetworkPolicy$/m.test(document));
    assert.equal(policies.length, 1, directory);
    const [policy = ''] = policies.map((document) => document.replace(/namespace: etcd-ratchet/, 'namespace: default'));
    await api.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin: policy });
  }
});
