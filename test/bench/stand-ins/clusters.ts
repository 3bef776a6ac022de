import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import type { Stage } from '../stage.ts';
import { addVolumes, podTemplate, storageClass } from './nodes.ts';

interface Wanted {
  /** The number of the first. */
  readonly first: number;
  readonly count: number;
  readonly namespaceOf: (number: number) => string;
}

/** Clusters of one member each, whose pods run on nodes that kwok plays. */
export async function addStandIns(
  { kube, kubectl }: Pick<Stage, 'kube' | 'kubectl'>,
  { first, count, namespaceOf }: Wanted,
): Promise<void> {
  await addVolumes(kubectl, first, count);
  const numbers = [...Array(count).keys()].map((n) => first + n);
  for (const namespace of new Set(numbers.map(namespaceOf))) await ensureNamespace(kube, namespace);
  await inParallel(numbers, 8, (n) =>
    kube.create<EtcdCluster>(resources.clusters, {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: `orders-${n}`, namespace: namespaceOf(n) },
      spec: {
        replicas: 1,
        version: '3.6.16',
        storage: { size: '1Gi', storageClassName: storageClass },
        podTemplate,
      },
    }),
  );
}

export async function ensureNamespace(kube: Kube, name: string): Promise<void> {
  if (await kube.get(resources.namespaces, undefined, name)) return;
  await kube.create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
