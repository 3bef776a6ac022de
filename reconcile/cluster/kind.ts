import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import { onlyPending, pendingRecords } from '../fleet/pending-record.ts';
import { othersThan, unitOf } from '../fleet/unit.ts';
import { type KubeObject, resources } from '../interfaces/kube.ts';
import { listIn, only } from '../objects/list-in.ts';
import { withCure } from '../reasons/cure.ts';
import type { Kind, KindContext } from '../stepping/kind.ts';
import type { Listed } from '../stepping/lists.ts';
import { pauseSeconds, tickSeconds } from '../stepping/pause.ts';
import { isIn } from '../stepping/shard.ts';
import { neededFor } from './load-ahead.ts';
import { namespacesFor } from './namespaces.ts';
import { clustersWake, isUnderWay, quietSeconds } from './quiet.ts';
import type { ClusterResult } from './result.ts';

/** What a pass must know of clusters; where they stand among the kinds, the table says. */
export const clusterKind = {
  lister:
    ({ kube, shard, signal, ...where }) =>
    () =>
      listIn<EtcdCluster>(kube, resources.clusters, { namespaces: listedIn(where), isBare: othersThan(shard), signal }),
  worthAStep: (clusters, { chosen }) => chosen(clusters),
  units: (clusters) => clusters.map(unitOf),
  looksInto: (clusters, { fleets }) => namespacesFor(clusters, fleets),
  tellsLeftOut: true,
  async step(clusters, context, all) {
    const { stepClusters } = await import('./pass.ts');
    const { kube, within, fleets, loadAhead, lists, shard } = context;
    const onConfigMaps = (listed: Listed<ConfigMap>) => lists.keep(pendingRecords, onlyPending(listed));
    const stepped = stepClusters(context, {
      namespaces: listedIn(context),
      clusters,
      all: all.filter((one) => isIn(shard, unitOf(one))),
      ...(shard && { listed: all }),
      fleets,
      inFull: context.clusters.length > 0,
      // Those of some namespaces, or of some clusters, serve no others.
      ...(!within && !shard && { onConfigMaps }),
    });
    // While the API server makes its lists.
    if (loadAhead) setImmediate(() => neededFor(clusters, kube.now() ?? new Date()).forEach(loadAhead));
    return stepped;
  },
  waits: {
    wakesOn: clustersWake,
    isAwaited: (results, now) => pauseSeconds(quietSeconds(results, now)) < tickSeconds,
    label: labels.cluster,
    adopts: { resource: resources.clusters, isBegun },
    again: 'woken',
    untilActed: true,
  },
  isUnsettled: (result) => result.workRemains && (result.outcome === 'failed' || isUnderWay(result)),
  shown: {
    as: 'clusters',
    label: 'cluster',
    metric: 'cluster',
    data: ({ cluster: _, reason: __, message: ___, ...rest }) => rest,
    line({ decision, outcome, problem }) {
      const message = problem ?? decision.message;
      const told = decision.kind === 'refuse' ? withCure(message, decision.cure) : message;
      return `${outcome === 'none' ? decision.kind : outcome}  ${decision.reason}: ${told}`;
    },
    action: ({ decision }) => (decision.kind === 'act' ? decision.action.kind : 'none'),
  },
} as const satisfies Omit<Kind<EtcdCluster, ClusterResult>, 'scope' | 'after'>;

function listedIn({ namespace, within }: Pick<KindContext, 'namespace' | 'within'>): readonly string[] | undefined {
  return within ?? only(namespace);
}

/** Its spec is newer than its status, or its last step did not find it as it should be. */
function isBegun(object: KubeObject): boolean {
  const { metadata, status } = object as EtcdCluster;
  return status?.observedGeneration !== metadata.generation || status?.lastDecision?.kind !== 'Done';
}
