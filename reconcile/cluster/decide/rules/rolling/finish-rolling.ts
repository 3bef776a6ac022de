import { isHigher, isVersion } from '../../../../../manifests/api/version.ts';
import type { Reason } from '../../../../reasons/reasons.ts';
import { inheritedIn, isWell } from '../../../know/adoption/inherited.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { ailmentOf, isIll } from '../../../know/health/health.ts';
import { leads } from '../../../know/membership/leadership.ts';
import { unknownAmong, votersOf } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { meanwhile, restartOf } from '../../restarting.ts';

/**
 * A member that runs an older template than its StatefulSet has is restarted, one at a time, while all others are
 * healthy. A crash, or a pod that became Ready at the last moment, left it half-rolled. `cureConfiguration` above
 * ensures that the template is the right one. A voter without a peer is not healthy.
 *
 * The leader comes last, and hands leadership over first.
 *
 * Guards I1: the disruption budget decides, except in a cluster of one or two members: no restart there can keep the
 * quorum, so the pod is deleted, and the message says so; and except while an adoption is unfinished (`restartOf`).
 */
export function finishRolling(situation: Situation): Decision | undefined {
  const { slots, membership } = situation;
  if (membership.kind === 'unknown') return undefined;
  const voters = votersOf(membership.members);
  // The gate names it, and its cure. The disruption budget counts it, and would refuse every eviction.
  if (unknownAmong(voters, situation) || !inheritedIn(situation).every(isWell)) return undefined;
  if (slots.some((slot) => isIll(slot, situation))) return undefined;
  const outdated = slots.filter((slot) => ailmentOf(slot, situation) !== undefined);
  const half = outdated.find((slot) => !leads(slot)) ?? outdated[0];
  const restart = half && restartOf(half, situation);
  if (!restart) return undefined;
  const [reason, what] = reasonFor(half);
  return act(
    { kind: 'restart-member', ...restart },
    reason,
    `restarting ${half.name} on ${what}${meanwhile(situation)}`,
  );
}

function reasonFor({ peer, pod }: Slot): readonly [reason: Reason, what: string] {
  const version = peer?.inputs.version;
  if (!isVersion(version) || !isVersion(pod?.version) || version === pod.version) {
    return ['FinishingRolling', 'its new template'];
  }
  const goesUp = isHigher(version, pod.version);
  return [goesUp ? 'UpgradingMember' : 'RollingBackVersion', `etcd ${version}`];
}
