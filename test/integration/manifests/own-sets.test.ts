import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { driftOf } from '../../../reconcile/cluster/observe/own-set.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { samples } from '../../unit/docs/samples.ts';
import { cluster, fullCluster } from '../../unit/manifests/api-documents.ts';
import { shareApiServer } from '../shared-api-server.ts';

/** A StatefulSet that we made is ours, whatever defaults its API server adds, and however a quantity is spelled. */

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

const { kube, namespace } = api;

const spelledOtherwise: EtcdCluster = {
  ...cluster,
  spec: {
    ...cluster.spec,
    resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { memory: '1.5Gi' } },
    podTemplate: {
      metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'once' } },
      spec: {
        nodeSelector: {},
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'agent', image: 'example.org/agent', env: [{ name: 'EMPTY', value: '' }] }],
        initContainers: [{ name: 'first', image: 'example.org/first:1', resources: { limits: { cpu: '0.1' } } }],
        volumes: [{ name: 'scratch', emptyDir: {} }],
      },
    } as never,
  },
};

const ofSamples = [...samples].flatMap(([file, document]) =>
  (document as EtcdCluster).kind === 'EtcdCluster' ? [[file, document as EtcdCluster] as const] : [],
);
const clusters: readonly (readonly [what: string, cluster: EtcdCluster])[] = [
  ...ofSamples,
  ['a full spec', fullCluster],
  ['quantities, lists and volumes as people spell them', spelledOtherwise],
];

for (const [index, [what, given]] of clusters.entries()) {
  test(`a StatefulSet that we made is ours: ${what}`, async () => {
    const name = `ours-${index}`;
    const owner = withDefaults({ ...given, metadata: { name, namespace, uid: `cluster-${index}` } });
    const bootstrap = { token: 'token', initialCluster: [], state: 'New' } as const;
    const built = etcdPeer(owner, owner.spec, 0, { ...bootstrap, initialCluster: [] });
    const peer = { ...built, metadata: { ...built.metadata, uid: `peer-${index}` } };
    const made = await kube.create<StatefulSet>(resources.statefulSets, statefulSet(peer));
    const means = { kube, offered: async () => ({}), signal: AbortSignal.timeout(20_000) };
    assert.equal(await driftOf(made, peer, means), undefined);
    const replicas = await kube.update<StatefulSet>(resources.statefulSets, {
      ...made,
      spec: { ...made.spec, replicas: 0, minReadySeconds: 5 } as StatefulSet['spec'],
    });
    const drift = await driftOf(replicas, peer, means);
    assert.partialDeepStrictEqual(drift, { kind: 'changed', fields: ['spec.replicas', 'spec.minReadySeconds'] });
  });
}
