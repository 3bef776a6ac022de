import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import { indexFor } from '../../../reconcile/stepping/shard.ts';
import { ensureNamespace } from './clusters.ts';

/** One of the shards has all that is born; the others have the rest. */
export const shards = 10;
/** Of one namespace, as a team may have. */
const perNamespace = 50;

/** The namespace of the one with this number, among all that the shard of this index steps, or that others do. */
export function namespaceOf(
  number: number,
  { index, isOwn }: { readonly index: number; readonly isOwn: boolean },
): string {
  const before = Math.floor(number / perNamespace);
  let found = -1;
  for (let n = 0; ; n++) {
    const name = `team-${n}`;
    if ((indexFor(`namespace ${name}`, shards) === index) === isOwn) found += 1;
    if (found === before) return name;
  }
}

interface Others {
  readonly model: EtcdCluster;
  readonly count: number;
  /** Of the shard that has none of them. */
  readonly index: number;
}

/** So many that other shards step: objects as large as the model, whose members are not there. */
export async function addOthers(kube: Kube, { model: { spec, status }, count, index }: Others): Promise<void> {
  const numbers = [...Array(count).keys()];
  const namespaces = numbers.map((number) => namespaceOf(number, { index, isOwn: false }));
  for (const name of new Set(namespaces)) await ensureNamespace(kube, name);
  await inParallel(numbers, 16, async (number) => {
    const created = await kube.create<EtcdCluster>(resources.clusters, {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: `other-${number}`, namespace: namespaces[number] ?? assert.fail() },
      spec,
    });
    await kube.updateStatus<EtcdCluster>(resources.clusters, { ...created, status: status ?? assert.fail() });
  });
}
