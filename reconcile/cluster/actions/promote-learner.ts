import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, liveVolume } from './context.ts';

/**
 * Makes a learner a voter. etcd refuses as long as it is not in sync.
 *
 * Guards I5: from here on its vote counts for writes, so it must never start empty again; volume and ConfigMap say so, at this
 * moment.
 */
export async function promoteLearner(
  { name, memberId, clusterId }: ActionOf<'promote-learner'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, etcd: way, signal } = context;
  const [{ record }, configMap] = await Promise.all([
    liveVolume(context, name),
    kube.get<ConfigMap>(resources.configMaps, cluster.metadata.namespace, name, { signal }),
  ]);
  if (record.state !== 'sealed' || record.memberId !== memberId || !configMap?.immutable) {
    throw moved(`${name} is not sealed as member ${memberId}`);
  }
  await withEtcd(way, (etcd, endpoints) => etcd.promote(endpoints, memberId, { signal, clusterId }));
}
