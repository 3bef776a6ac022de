import { parseDuration } from '../../../../../manifests/api/duration.ts';
import { replacedDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { says } from '../../../../reasons/reasons.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import { gaveUpBy } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A replaced member keeps its volume until another one votes in its place, and for `whenReplaced.keepFor` after that:
 * if the replacement was wrong, the data still exist. Then the volume is deleted, because it costs money.
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
    const { memberId, clusterId } = recordOf(slot) ?? {};
    if (!volume || until === undefined || memberId === undefined || at.getTime() < until) continue;
    return act(
      {
        kind: 'delete-replaced-volume',
        volume: { name, uid: volume.uid },
        memberId,
        clusterId: membership.clusterId,
        ...(clusterId !== undefined && clusterId !== membership.clusterId && { gaveUp: clusterId }),
      },
      'DeletingReplacedVolume',
      `deleting volume ${name}: another member votes in its place, and spec.volumeRetention.whenReplaced.keepFor has passed`,
    );
  }
  return undefined;
}

/** In milliseconds; `undefined`: it is kept. A promotion that status remembers restarts the time. */
function deletableAt(
  slot: Slot,
  { cluster, membership, slots }: Pick<Situation, 'cluster' | 'membership' | 'slots'>,
): number | undefined {
  const { policy, keepFor } = { ...replacedDefaults, ...cluster.spec.volumeRetention?.whenReplaced };
  const record = recordOf(slot);
  if (policy === 'Retain' || record?.replacedAt === undefined || record.evidence) return undefined;
  if (slot.volume?.leaving || membership.kind === 'unknown' || slot.peer || slot.statefulSet || slot.pod)
    return undefined;
  const isReplaced = record.state === 'released' && record.clusterId === membership.clusterId;
  if (!isReplaced && !isOfGivenUp(record, slots)) return undefined;
  const promotions = (cluster.status?.history ?? []).filter((entry) => says(entry, 'PromotingLearner'));
  const votes = Date.parse(promotions.find((one) => one.at >= (record.replacedAt ?? ''))?.at ?? record.replacedAt);
  return votes + parseDuration(keepFor);
}

/** A rollback left it behind, and the cluster that it made has as many voters as the spec asks for. */
function isOfGivenUp({ state, clusterId }: VolumeRecord, slots: readonly Slot[]): boolean {
  const isLeft = state === 'superseded' || state === 'released';
  return isLeft && clusterId !== undefined && gaveUpBy(slots).includes(clusterId);
}
