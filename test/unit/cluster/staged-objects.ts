import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../../manifests/api/etcd-fleet-status.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import type { ClusterObjects } from '../../../reconcile/cluster/observe/snapshot.ts';
import { heldByStages } from '../../../reconcile/cluster/observe/stages.ts';
import { fleet, fleetUid, objectsOf } from './fleet-objects.ts';

/** Clusters of a fleet that rolls out in stages: `canary`, `eu`, and all others. */

export const now = new Date('2026-01-02T12:00:00Z');
export const stages = [
  { name: 'canary', matchLabels: { stage: 'canary' }, soak: '1h' },
  { name: 'eu', matchLabels: { region: 'eu' } },
];

export type Objects = NonNullable<Parameters<typeof objectsOf>[1]>;

/** As an apply left it, and as asked, for a day. */
export function one(
  name: string,
  stage: Readonly<Record<string, string>>,
  { status, metadata, ...rest }: Objects = {},
) {
  const since = '2026-01-01T12:00:00Z';
  const ready = { type: 'Ready', status: 'True', reason: 'Converged', message: '', lastTransitionTime: since } as const;
  return objectsOf(name, {
    states: ['sealed', 'sealed', 'sealed'],
    ...rest,
    metadata: { generation: 1, labels: { [labels.fleet]: fleetUid, ...stage }, ...metadata },
    status: {
      conditions: [ready],
      lastDecision: { kind: 'Done', reason: 'Converged', message: '' },
      ...status,
    },
  });
}

export const canary = (differences?: Objects) => one('a', { stage: 'canary' }, differences);
export const eu = (differences?: Objects) => one('b', { region: 'eu' }, differences);
export const rest = (differences?: Objects) => one('c', {}, differences);

export function fleetOf(clusters: readonly ClusterObjects[], status: Partial<EtcdFleetStatus> = {}): EtcdFleet {
  const revision = `main@sha1:${'a'.repeat(40)}`;
  const inventory = clusters.map(({ cluster: { metadata } }) => ({
    namespace: 'shop',
    name: metadata.name,
    uid: metadata.uid ?? '',
    generation: metadata.generation ?? 0,
    source: 'a.yaml',
  }));
  const told = { observedGeneration: 1, revision: { attempted: revision, applied: revision }, inventory, ...status };
  const { spec, ...others } = fleet('100%');
  return { ...others, spec: { ...spec, rollout: { stages } }, status: told };
}

/** A person approved that the rollout goes on with that commit. */
export function resumed(of: EtcdFleet, rollout: EtcdFleet['spec']['rollout'], sha = 'a'.repeat(40)): EtcdFleet {
  const metadata = { ...of.metadata, annotations: { [annotations.resumeRollout]: sha } };
  return { ...of, metadata, spec: { ...of.spec, ...(rollout && { rollout }) } };
}

export const heldAmong = (clusters: readonly ClusterObjects[], of = fleetOf(clusters)) =>
  heldByStages(clusters, [of], now);
