import { act, type Decision } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import { hasHealthyQuorum } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { isAccepted } from '../../../know/volumes/disk-approval.ts';
import { isOnOtherDisk, wasMounted } from '../../../know/volumes/sealed-disk.ts';

/**
 * A sealed member whose PVC has another disk must not start. A member that has started all the same (between the PVC's
 * return and the deletion of its ConfigMap) is stopped, unless the others are no quorum without it: then clients rely
 * on it by now.
 *
 * Guards I5: an older copy lacks writes that its member acknowledged, just as an empty disk does.
 */
export function barOtherDisks(situation: Situation): Decision | undefined {
  const members = situation.slots.flatMap((slot) => {
    const { name, configMap, pod } = slot;
    if (!isOnOtherDisk(slot) || isAccepted(slot, recordOf(slot)?.clusterId ?? '', situation)) return [];
    const keys = configMap?.current && !configMap.leaving ? { configMap: configMap.uid } : {};
    const stops = pod && runs(slot) && mayStop(slot, situation) && !isMadeAgain(slot) ? { pod: pod.uid } : {};
    const bars = { name, ...keys, ...stops };
    return 'configMap' in bars || 'pod' in bars ? [bars] : [];
  });
  if (members.length === 0) return undefined;
  return act(
    { kind: 'bar-members', members },
    'BarringMembers',
    `${members.map(({ name }) => name).join(', ')}: kept from running on another disk than the one it was sealed on`,
  );
}

/** On the other disk. A PersistentVolume that was replaced under a running pod concerns only the next pod. */
function runs(slot: Slot): boolean {
  const { pod } = slot;
  return pod !== undefined && !pod.leaving && pod.container.state === 'running' && wasMounted(slot) !== false;
}

/** Its StatefulSet is not ours, as after a restore without owners: it would recreate a stopped pod for ever. */
function isMadeAgain({ statefulSet }: Slot): boolean {
  return statefulSet?.foreign === true;
}

/** Where no list could be read, members that see the same leader as this one may be a quorum with it. */
function mayStop(slot: Slot, situation: Situation): boolean {
  if (situation.membership.kind === 'known') return hasHealthyQuorum(situation);
  const leader = leaderSeenBy(slot);
  return leader === undefined || !situation.slots.some((other) => other !== slot && leaderSeenBy(other) === leader);
}

function leaderSeenBy({ endpoint }: Slot): string | undefined {
  return endpoint.kind === 'known' && endpoint.status.leader !== '0' ? endpoint.status.leader : undefined;
}
