import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';

export type Stage = NonNullable<EtcdFleet['spec']['rollout']>['stages'][number];

/** Which stage a cluster with these labels belongs to: the first that selects it; of none, their number: after all. */
export function stageOf(labels: Readonly<Record<string, string>> | undefined, stages: readonly Stage[]): number {
  const index = stages.findIndex(({ matchLabels }) =>
    Object.entries(matchLabels).every(([key, value]) => labels?.[key] === value),
  );
  return index < 0 ? stages.length : index;
}
