import { annotations } from '../../../../../manifests/render/names.ts';
import { act, type Decision, refuseUntil } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import { quorumOf } from '../../../know/membership/quorum.ts';
import { hasHealthyQuorum } from '../../../know/membership/voters.ts';
import type { Slot } from '../../../know/observation.ts';
import { lossOf, type Voter } from '../../../know/recovery/lost.ts';
import type { Situation } from '../../../know/situation.ts';
import { acceptedDisks, diskApprovalOf, isAccepted } from '../../../know/volumes/disk-approval.ts';
import { isOnOtherDisk, otherDiskInWords, sealedDiskInWords } from '../../../know/volumes/sealed-disk.ts';

/**
 * PVCs of sealed members have other disks, and without these members there is no quorum: a person reads what may be
 * lost, and may approve exactly these disks. Where the others are a healthy quorum, no approval is needed: the member
 * is replaced (`heal`).
 *
 * Guards I5. Not offered while a member is left on its own disk and the members on other disks would be a quorum
 * without it: they would go on without data that only that member has. Then the way is a recovery from that member
 * (`await-quorum`).
 */
export function anotherDisk(situation: Situation): Decision | undefined {
  const { membership, slots } = situation;
  const strangers = slots.filter(isOnOtherDisk);
  if (strangers.length === 0) return undefined;
  if (membership.kind === 'known') {
    const serving = strangers.filter(({ endpoint }) => endpoint.kind === 'known');
    return serving.length > 0 && !hasHealthyQuorum(situation) ? askAbout(serving, situation, 'voting') : undefined;
  }
  const loss = lossOf(situation);
  if (!loss) return undefined;
  const { lost, silent, survivors } = loss;
  const restored = lost.flatMap(({ slot }) => (slot && isOnOtherDisk(slot) ? [slot] : []));
  if (restored.length === 0) return undefined;
  const left = [...survivors, ...silent];
  const accepted = left.filter((voter) => wasAccepted(voter, situation));
  const voters = lost.length + left.length;
  const theirs = restored.length + accepted.length;
  if (theirs >= quorumOf(voters) && left.length > accepted.length) return undefined;
  return askAbout(restored, situation, theirs === voters ? 'all' : 'some');
}

/** It has another disk, which was approved together with these. */
function wasAccepted({ slot }: Voter, situation: Situation): boolean {
  return slot !== undefined && isAccepted(slot, recordOf(slot)?.clusterId ?? '', situation);
}

/** The question to a person, and the step once exactly that was approved. */
export function askAbout(strangers: readonly Slot[], situation: Situation, which: 'all' | 'some' | 'voting'): Decision {
  const { cluster } = situation;
  const clusterId = recordOf(strangers[0] ?? {})?.clusterId ?? '';
  const names = strangers.map(({ name }) => name).join(', ');
  const given = acceptedDisks(situation);
  if (given !== undefined && strangers.every((slot) => isAccepted(slot, clusterId, situation))) {
    const volumes = strangers.flatMap((slot) => {
      const { name, volume } = slot;
      const memberId = recordOf(slot)?.memberId;
      const pv = volume?.disk?.pv;
      return volume && memberId !== undefined
        ? [{ name, uid: volume.uid, memberId, ...(pv !== undefined && { pv }) }]
        : [];
    });
    return act(
      { kind: 'accept-disks', approval: given, clusterId, volumes },
      'AcceptingDisks',
      `as approved, ${names} of ${cluster.metadata.name} go on with the disks that they have now`,
    );
  }
  const { name } = cluster.metadata;
  const other =
    given === undefined ? '' : `; the present approval (${annotations.acceptDisks}) is for other disks, and void`;
  const asked = { annotation: annotations.acceptDisks, value: diskApprovalOf(clusterId, strangers) };
  const what = strangers.map(otherDiskInWords).join('; ');
  if (which === 'all') {
    return refuseUntil(
      {
        approval: {
          ...asked,
          approves: `${name} goes back to the data of the disks that all its members have now: ${what}`,
          loses:
            'every write after these disks were copied; of copies of different times also earlier ones, or they form no cluster',
        },
        cure: `if all of them were copied at one point in time (a group snapshot, or copies made while no member ran), the cluster goes back to the data of that time, and later writes are lost; copies of different times may also lose earlier writes, or not form a cluster. Restore the disks themselves (${strangers.map(sealedDiskInWords).join('; ')}), or approve all of these at once`,
        cluster,
      },
      'AllDisksRestored',
      `every member of ${name} has another disk than the one it was sealed on, as after a restore of all of them: ${what}${other}`,
    );
  }
  const lost =
    'acknowledged after that copy was made may be lost for ever, although clients were told that they are kept';
  return refuseUntil(
    {
      approval: {
        ...asked,
        approves: `${names} goes on with its present disk: ${what}`,
        loses: `writes that ${names} ${lost}`,
      },
      cure: `restore the disk itself (${strangers.map(sealedDiskInWords).join('; ')}), or another member; or approve that ${names} goes on with its present disk: writes that it ${lost}`,
      cluster,
    },
    'AnotherDisk',
    `${what}${which === 'voting' ? '; it votes all the same, and without it there is no healthy quorum: writes that it acknowledged since that copy was made may be lost already' : `; without ${names} ${name} has no quorum`}${other}`,
  );
}
