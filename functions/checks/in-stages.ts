import type { CheckedCluster } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { stageOf } from '../../reconcile/fleet/stage-of.ts';

/** How many clusters of a stage are named. */
const named = 5;

/** In which stages (`spec.rollout`) the clusters restart: `canary: shop/a; well for 2h before the next`. */
export function inStages(
  { spec }: EtcdFleet,
  clusters: readonly CheckedCluster[],
  labelsOf: (key: string) => Readonly<Record<string, string>> | undefined,
): readonly string[] {
  const { stages = [] } = spec.rollout ?? {};
  const restarted = clusters.flatMap(({ namespace, name, intent, planned }) =>
    intent === 'update' && (planned?.costs?.restarts ?? 0) > 0 ? [`${namespace}/${name}`] : [],
  );
  if (stages.length === 0 || restarted.length === 0) return [];
  const byStage = Map.groupBy(restarted, (key) => stageOf(labelsOf(key), stages));
  const all = [...stages, { name: 'all others', soak: undefined }];
  return all.map(({ name, soak }, index) => {
    const after = soak === undefined ? '' : `; well for ${soak} before the next`;
    return `${name}: ${listed(byStage.get(index) ?? [])}${after}`;
  });
}

function listed(keys: readonly string[]): string {
  const left = keys.length - named;
  if (keys.length === 0) return 'no cluster that restarts';
  return `${keys.slice(0, named).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
