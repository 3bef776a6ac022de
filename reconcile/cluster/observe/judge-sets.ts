import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { isControlledBy } from '../../../manifests/render/owner-reference.ts';
import { type Kube, KubeError } from '../../interfaces/kube.ts';
import type { SetDrift, Slot } from '../know/observation.ts';
import { isUnmanaged } from '../know/unmanaged.ts';
import { offeredToMembers } from './offered.ts';
import { driftOf, stoppedBy } from './own-set.ts';
import type { ClusterObjects } from './snapshot.ts';

/** By the name of its member. */
export type JudgedSets = ReadonlyMap<string, { readonly set: StatefulSet; readonly drift: SetDrift | undefined }>;

/**
 * Each StatefulSet of a living peer beside what we write for it. Nothing is asked for one whose generation is known,
 * nor of a cluster that no step is taken for.
 *
 * @throws {KubeError}
 */
export async function judgeSets(
  kube: Kube,
  { cluster, peers, statefulSets }: Pick<ClusterObjects, 'cluster' | 'peers' | 'statefulSets'>,
  signal: AbortSignal,
): Promise<JudgedSets> {
  if (isUnmanaged(cluster) || cluster.metadata.deletionTimestamp !== undefined) return new Map();
  const offered = offeredToMembers({ kube, signal });
  const judged = statefulSets.map(async (set) => {
    const { name, deletionTimestamp } = set.metadata;
    const peer = peers.find(({ metadata }) => metadata.name === name && isControlledBy(set, metadata.uid ?? ''));
    if (!peer || deletionTimestamp !== undefined) return [];
    const drift = await driftOf(set, peer, { kube, offered, signal }).catch((error) => unanswered(error, signal));
    return [[name, { set, drift: drift?.kind === 'unknown' ? (stoppedBy(set) ?? drift) : drift }] as const];
  });
  return new Map((await Promise.all(judged)).flat());
}

/** A webhook that is down fails dry runs and nothing else here: what needs no comparison goes on. */
function unanswered(error: unknown, signal: AbortSignal): SetDrift {
  if (!(error instanceof KubeError) || signal.aborted) throw error;
  return { kind: 'unknown', cause: error.message, mayPass: true };
}

export function withJudged(slots: readonly Slot[], judged: JudgedSets): readonly Slot[] {
  return slots.map((slot) => {
    const found = judged.get(slot.name);
    if (!found || !slot.statefulSet) return slot;
    const { set, drift } = found;
    const { generation } = set.metadata;
    const said = drift ? { drift } : { ...(generation !== undefined && { oursAt: generation }) };
    return { ...slot, statefulSet: { ...slot.statefulSet, ...said } };
  });
}
