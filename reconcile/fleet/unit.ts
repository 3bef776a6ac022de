import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { labels } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import type { Lists } from '../stepping/lists.ts';
import { isIn, type Shard } from '../stepping/shard.ts';
import { keyOf } from './names.ts';

/**
 * What one invocation steps where several share a pass: a fleet with all that it applied, else what is in a namespace.
 * The clusters of a fleet wait for each other (room, stages, halts), and are never stepped from two looks at once.
 */
export function unitOf({ metadata }: KubeObject): string {
  return metadata.labels?.[labels.fleet] ?? `namespace ${metadata.namespace}`;
}

/** What other shards step: of that, lists keep what tells it apart. `undefined`: there are none. */
export function othersThan(shard: Shard | undefined): ((item: KubeObject) => boolean) | undefined {
  return shard && ((item) => !isIn(shard, unitOf(item)));
}

/** Of each that of the cluster that it names in its own namespace, where that is there; else its own. */
export function unitsBeside<Item extends KubeObject>(
  items: readonly Item[],
  lists: Pick<Lists, 'known'>,
  named: (item: Item) => string | undefined,
): readonly string[] {
  const clusters = new Map(lists.known<EtcdCluster>('cluster').map((one) => [keyOf(one), one]));
  return items.map((item) => unitOf(clusters.get(`${item.metadata.namespace}/${named(item)}`) ?? item));
}
