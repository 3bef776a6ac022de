import { annotateCommand } from '../../../manifests/build/kubectl.ts';
import { annotations } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { acceptedDisks, diskApprovalOf, isAccepted } from '../disk-approval.ts';
import { recordOf } from '../life.ts';
import { lossOf, type Voter } from '../lost.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';
import { isOnOtherDisk, otherDiskInWords, sealedDiskInWords } from '../sealed-disk.ts';
import { hasHealthyQuorum } from '../voters.ts';

/**
 * Claims of sealed members have other disks, and without these members there is no quorum: a person is told what may be lost, and may
 * approve exactly these disks. Where the others are a healthy quorum nobody is asked: the member is replaced (`heal`).
 *
 * Guards I5. Not offered while somebody is left on a disk of his own, and those on other disks would be a quorum without it: they would
 * go on without what only that one has. Then a recovery from that one is the way (`await-quorum`).
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

/** Its disk was another one, and was approved together with these. */
function wasAccepted({ slot }: Voter, situation: Situation): boolean {
  return slot !== undefined && isAccepted(slot, recordOf(slot)?.clusterId ?? '', situation);
}

/** What a person is told, and, once exactly that was approved, what is done. */
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
    given === undefined ? '' : `; the approval that is there (${annotations.acceptDisks}) is for other disks, and void`;
  const text = diskApprovalOf(clusterId, strangers);
  const approve = annotateCommand('etcdclusters', cluster.metadata, annotations.acceptDisks, text);
  const what = strangers.map(otherDiskInWords).join('; ');
  if (which === 'all') {
    return refuse(
      'AllDisksRestored',
      `every member of ${name} has another disk than it was sealed on, as after a restore of all of them: ${what}${other}`,
      `if all of them were copied at one point in time (a group snapshot, or copies made while no member ran), the cluster goes back to what it held then, and what was written since is lost; copies of different times may also lose what they held, or not form a cluster. Bring the disks themselves back (${strangers.map(sealedDiskInWords).join('; ')}), or approve all of these at once: ${approve}`,
    );
  }
  return refuse(
    'AnotherDisk',
    `${what}${which === 'voting' ? '; it votes all the same, and without it there is no healthy quorum: what it acknowledged since that copy was made may be lost already' : `; without ${names} ${name} has no quorum`}${other}`,
    `bring the disk itself back (${strangers.map(sealedDiskInWords).join('; ')}), or another member; or approve that ${names} goes on with what is there: writes that it acknowledged after that copy was made may be lost for ever, although clients were told that they are kept: ${approve}`,
  );
}
