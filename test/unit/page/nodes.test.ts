import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { clusters, fleets, plan } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';

const full = { fleets, clusters, plan: async () => plan } as const;

function policy(name: string, status: object = {}, spec: object = {}): EtcdNodePolicy {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdNodePolicy',
    metadata: { name, uid: name },
    spec: { nodeSelector: {}, ...spec },
    status: { observedGeneration: 1, ...status },
  };
}

const grant = {
  ...{ node: 'node-1', uid: 'u', id: 'g', at: '2026-11-01T00:00:00Z', why: 'kernel', bootID: 'b' },
  clusters: ['payments/orders'],
};
const blocked = [
  { node: 'node-1', reason: 'Draining', message: 'node-1: still there: shop/web' },
  { node: 'node-2', reason: 'MemberDown', message: 'orders-1 <script>alert(1)</script> is down' },
];

test('the first page shows the nodes of each policy, how far they are, and what blocks them', async () => {
  const { get, kube } = pages(full);
  const counts = { nodes: 3, needed: 1, inProgress: 1, done: 4 };
  kube.seed(resources.nodePolicies, policy('workers', { ...counts, grants: [grant], blocked }));
  kube.seed(resources.nodePolicies, policy('asleep', {}, { suspend: true }));
  const text = await (await get('/')).text();
  assert.match(text, /Nodes of <bdi>workers<\/bdi>/);
  assert.match(text, /3 nodes · 1 need a reboot · 1 in progress · 4 done/);
  assert.match(text, /node-1[\s\S]*begun[\s\S]*Draining[\s\S]*shop\/web[\s\S]*node-2[\s\S]*waits[\s\S]*MemberDown/);
  assert.match(text, /&lt;script&gt;/);
  assert.doesNotMatch(text, /<script>alert/);
  assert.match(text, />Suspended</);
});

test('many nodes and many policies are counted, not all shown', async () => {
  const { get, kube } = pages(full);
  const many = Array.from({ length: 60 }, (_, index) => ({ ...grant, node: `node-${index}`, id: `g${index}` }));
  kube.seed(
    resources.nodePolicies,
    ...Array.from({ length: 30 }, (_, index) => policy(`policy-${index}`, { grants: many })),
  );
  const text = await (await get('/')).text();
  assert.equal(text.match(/Nodes of <bdi>/g)?.length, 20);
  assert.match(text, /and 10 other node policies/);
  assert.match(text, /and 40 others/);
});

for (const [what, options] of [
  ['is not installed', { serves: ({ plural }: { plural: string }) => plural !== 'etcdnodepolicies' }],
  ['may not be read', { authorize: ({ key }: { key: string }) => key !== 'LIST etcdnodepolicies' }],
] as const) {
  test(`the first page is shown without nodes where their kind ${what}`, async () => {
    const { get } = pages({ ...full, ...options });
    const answer = await get('/');
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), /Nodes of/);
  });
}
