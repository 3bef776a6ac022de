import { randomBytes } from 'node:crypto';
import type { EtcdNodePolicy, NodeGrant } from '../../../../manifests/api/etcd-node-policy.ts';
import type { Node, Pod } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Doing } from '../doing.ts';
import { clusterName, makeScene, type SomeScene } from '../scene.ts';
import type { Stage } from '../stage.ts';

/** A node, a policy that has begun with it, and a cluster that is named in its grant. All names are the scene's own. */
export interface NodesScene extends SomeScene {
  readonly node: string;
  readonly policy: string;
  readonly grant: NodeGrant;
  /** `<namespace>/<name>` of the cluster. */
  readonly key: string;
  /** Of its node, its policy and its cluster the name is what they are. */
  act(doing: Doing<'node' | 'policy' | 'cluster' | 'pod'>): Promise<void>;
  /** A pod on the node. */
  pod(name: string, more?: Partial<Pod['metadata']>): Promise<Pod>;
}

const bootID = 'boot-1';
/** Of all scenes: nowhere else is our account let make a Job that touches its host. */
export const rebootsIn = 'etcd-ratchet-reboots';

export async function makeNodesScene(stage: Stage, spec: Parameters<typeof makeScene>[1]): Promise<NodesScene> {
  const base = await makeScene(stage, spec);
  const { kube, namespace } = base;
  const labels = { 'contract.test/scene': namespace };
  const key = `${namespace}/${clusterName}`;
  const wished = await kube.create<Node>(resources.nodes, {
    metadata: { name: namespace, labels, annotations: { [annotations.rebootNeeded]: 'kernel' } },
  } as Node);
  const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
  const { metadata } = await kube.updateStatus<Node>(resources.nodes, { ...wished, status } as Node);
  const grant = {
    node: namespace,
    uid: metadata.uid ?? '',
    id: randomBytes(16).toString('hex'),
    at: '2026-01-02T03:04:05Z',
    why: 'kernel',
    bootID,
    clusters: [key],
  };
  const policy = await kube.create<EtcdNodePolicy>(resources.nodePolicies, {
    metadata: { name: namespace },
    spec: { nodeSelector: labels },
  } as unknown as EtcdNodePolicy);
  const begun = { observedGeneration: 1, grants: [grant] };
  await kube.updateStatus<EtcdNodePolicy>(resources.nodePolicies, { ...policy, status: begun });
  return {
    ...base,
    key,
    grant,
    node: namespace,
    policy: namespace,
    act: (doing) => act(base, doing),
    pod: (name, more = {}) =>
      base.make<Pod>(resources.pods, {
        metadata: { name, ...more },
        spec: { nodeName: namespace, containers: [{ name: 'app', image: 'app' }] },
      } as Pod),
  };
}

const kinds = {
  node: resources.nodes,
  policy: resources.nodePolicies,
  cluster: resources.clusters,
  pod: resources.pods,
} as const satisfies Record<Parameters<NodesScene['act']>[0]['object'], Resource>;

async function act({ kube, namespace }: SomeScene, { does, object, name }: Parameters<NodesScene['act']>[0]) {
  const resource = kinds[object];
  const isWide = object === 'node' || object === 'policy';
  const own = { node: namespace, policy: namespace, cluster: clusterName, pod: name }[object];
  const found = await kube.get<KubeObject>(resource, isWide ? undefined : namespace, own);
  if (!found) throw new Error(`there is no ${object} ${name}`);
  const { uid = '', resourceVersion: _, ...metadata } = found.metadata;
  if (does === 'writes to') {
    const touched = {
      ...found.metadata,
      annotations: { ...metadata.annotations, 'contract.test/written': 'by others' },
    };
    await kube.update(resource, { ...found, metadata: touched });
    return;
  }
  await kube.delete(resource, found.metadata.namespace, own, { preconditions: { uid } });
  if (does === 'makes anew') await kube.create(resource, { ...found, metadata });
}
