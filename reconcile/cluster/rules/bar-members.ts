import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { isAccepted } from '../disk-approval.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';
import { hasHealthyQuorum } from '../voters.ts';

/**
 * A sealed member whose claim has another disk must not start, and one that has started all the same (between the claim's return and the
 * end of its ConfigMap) is stopped: unless the others are no quorum without it, because then clients rely on it by now.
 *
 * Guards I5: an older copy has forgotten writes that its member acknowledged, just as an empty disk has.
 */
export function barMembers(situation: Situation): Decision | undefined {
  const members = situation.slots.flatMap((slot) => {
    const { name, configMap, pod } = slot;
    if (!isOnOtherDisk(slot) || isAccepted(slot, recordOf(slot)?.clusterId ?? '', situation)) return [];
    const keys = configMap?.current && !configMap.leaving ? { configMap: configMap.uid } : {};
    const stops = pod && runs(slot) && mayStop(slot, situation) ? { pod: pod.uid } : {};
    const bars = { name, ...keys, ...stops };
    return 'configMap' in bars || 'pod' in bars ? [bars] : [];
  });
  if (members.length === 0) return undefined;
  return act(
    { kind: 'bar-members', members },
    'BarringMembers',
    `${members.map(({ name }) => name).join(', ')}: kept from running on another disk than it was sealed on`,
  );
}

function runs({ pod }: Slot): boolean {
  return pod !== undefined && !pod.leaving && pod.container.state === 'running';
}

/** Where the list was not to be had once, those who agree with it on a leader still are a quorum with it, as far as they know. */
function mayStop(slot: Slot, situation: Situation): boolean {
  if (situation.membership.kind === 'known') return hasHealthyQuorum(situation);
  const leader = leaderSeenBy(slot);
  return leader === undefined || !situation.slots.some((other) => other !== slot && leaderSeenBy(other) === leader);
}

function leaderSeenBy({ endpoint }: Slot): string | undefined {
  return endpoint.kind === 'known' && endpoint.status.leader !== '0' ? endpoint.status.leader : undefined;
}
