import { healingDefaults } from '../../../../manifests/api/spec-defaults.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { timestamp } from '../../../time/timestamp.ts';
import { notedSince } from '../health/grace.ts';
import type { Slot } from '../observation.ts';
import type { Situation } from '../situation.ts';

/** Whether a person is asked before a voter is given up (`spec.healing.mode`). */
export function healsByHand({ cluster }: Pick<Situation, 'cluster'>): boolean {
  return (cluster.spec.healing?.mode ?? healingDefaults.mode) === 'Manual';
}

/**
 * What a person approves: that this member of this etcd cluster is given up, for as long as it is unhealthy without a
 * break. A member that was well in between asks again: an approval that was not needed fits no later failure of it, and
 * IDs of members are never used again.
 */
export function approvalOfReplacement(
  clusterId: string,
  memberId: string,
  slot: Slot,
  situation: Pick<Situation, 'cluster' | 'at'>,
): string {
  // At its first look the status does not say it yet, and will say this.
  const since = notedSince(slot, situation) ?? timestamp(situation.at);
  return `${clusterId}/${hashOf({ clusterId, memberId, since }).slice(0, 12)}`;
}

/** As a person set it; hostile or not, it is only ever compared. */
export function replacementGiven({ cluster }: Pick<Situation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.replaceMember];
}
