import { parseDuration } from '../../../manifests/api/duration.ts';
import { replacedDefaults } from '../../../manifests/api/healing-defaults.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { votersOf } from '../voters.ts';

/**
 * A member that was given up keeps its volume until another one votes in its place, and for `whenReplaced.keepFor` after that: whoever finds
 * out that it was given up wrongly still has its data. Then it goes, because a volume costs money.
 *
 * Guards I4. Below the gate: every member is healthy. Nothing else waits for it.
 */
export function deleteReplaced(situation: Situation): Decision | undefined {
  const { slots, membership, at, life, effective } = situation;
  if (membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  if (votersOf(membership.members).length < effective.replicas) return undefined;
  for (const slot of slots) {
    const { name, volume } = slot;
    const until = deletableAt(slot, situation);
    const { memberId } = recordOf(slot) ?? {};
    if (!volume || until === undefined || memberId === undefined || at.getTime() < until) continue;
    return act(
      {
        kind: 'delete-replaced-volume',
        volume: { name, uid: volume.uid },
        memberId,
        clusterId: membership.clusterId,
      },
      'DeletingReplacedVolume',
      `deleting volume ${name}: another member votes in its place, and it was kept for spec.volumeRetention.whenReplaced.keepFor`,
    );
  }
  return undefined;
}

/** In milliseconds; `undefined`: it is not one that goes by itself. A promotion that status remembers begins the time anew. */
export function deletableAt(
  slot: Slot,
  { cluster, membership }: Pick<Situation, 'cluster' | 'membership'>,
): number | undefined {
  const { policy, keepFor } = { ...replacedDefaults, ...cluster.spec.volumeRetention?.whenReplaced };
  const record = recordOf(slot);
  if (policy === 'Retain' || record?.replacedAt === undefined || record.evidence) return undefined;
  if (record.state !== 'released' || slot.volume?.leaving || membership.kind === 'unknown') return undefined;
  if (record.clusterId !== membership.clusterId || slot.peer || slot.statefulSet || slot.pod) return undefined;
  const promotions = (cluster.status?.history ?? []).filter(({ reason }) => reason === 'PromotingLearner');
  const votes = Date.parse(promotions.find((one) => one.at >= (record.replacedAt ?? ''))?.at ?? record.replacedAt);
  return votes + parseDuration(keepFor);
}
