import { hashOf } from '../../manifests/build/inputs-hash.ts';
import { annotations } from '../../manifests/build/names.ts';
import type { ListedMember } from '../etcd.ts';
import type { Situation } from './decide.ts';
import { downFor, graceOf, hasOutlasted } from './down.ts';
import { endedByItself, isCrashing } from './endings.ts';
import { memberOf } from './health.ts';
import { hasDeparted, recordOf } from './life.ts';
import type { Slot } from './observation.ts';
import { quorumOf } from './quorum.ts';
import { isOnOtherDisk } from './sealed-disk.ts';
import { whyGone } from './volume-gone.ts';

/** A quorum that is lost for good: nothing that is left can bring it back by itself. */
export interface Loss {
  /** Voters whose data or nodes are gone, each with why. */
  readonly lost: readonly LostMember[];
  /** Voters that are not lost, and do not say what they have. */
  readonly silent: readonly Voter[];
  /** Those that do, the one with the most data first. */
  readonly survivors: readonly Survivor[];
}

export interface Voter {
  readonly name: string;
  readonly memberId?: string;
  readonly slot?: Slot;
}
export interface LostMember extends Voter {
  readonly because: string;
}
export interface Survivor extends Voter {
  readonly memberId: string;
  readonly slot: Slot;
  readonly raftIndex: bigint;
  readonly raftTerm: bigint;
  readonly revision: bigint;
}

/** `undefined` while a quorum may come back. */
export function lossOf(situation: Situation): Loss | undefined {
  const voters = votersOf(situation);
  // Never told by their names: whoever added a member by hand may have called it anything.
  const judged = voters.map((voter) => ({
    voter,
    because: lostBecause(voter, situation),
    survivor: survivorOf(voter),
  }));
  const lost = judged.flatMap(({ voter, because }) => (because === undefined ? [] : [{ ...voter, because }]));
  if (voters.length - lost.length >= quorumOf(voters.length)) return undefined;
  const left = judged.filter(({ because }) => because === undefined);
  const survivors = left.flatMap(({ survivor }) => survivor ?? []).toSorted(byData);
  const silent = left.flatMap(({ voter, survivor }) => (survivor ? [] : [voter]));
  return { lost, silent, survivors };
}

/**
 * What a person approves: the etcd cluster that is meant, exactly those whose data are given up unseen, and what is kept. Members
 * are told by their IDs, which are never used again. What is kept ends at an entry of raft's log, and every leader adds one: an
 * approval that was not needed, because the quorum came back, fits no loss that comes later, not even one of the same members.
 */
export function approvalOf(
  clusterId: string,
  { lost, silent, survivors: [best] }: Loss,
): { readonly id: string; readonly text: string } {
  const given = [...lost, ...silent].map(({ memberId, name }) => memberId ?? name).toSorted();
  const kept = best && { memberId: best.memberId, raftIndex: String(best.raftIndex) };
  const id = hashOf({ clusterId, given, kept }).slice(0, 12);
  return { id, text: `${clusterId}/${id}` };
}

/** As a person set it; hostile or not, it is only ever compared. */
export function approvalGiven({ cluster }: Pick<Situation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.recoverQuorum];
}

/**
 * Whoever still runs remembers the list; where nobody does, it is what volumes and peers remember, and what the volumes recorded,
 * without those that we removed since.
 */
function votersOf(situation: Situation): readonly Voter[] {
  const { membership, slots, life } = situation;
  const strays = life.stage === 'born' ? life.strays : [];
  const ours = slots.filter((slot) => (slot.peer?.current || slot.volume) && !strays.includes(slot));
  const last = membership.kind === 'unknown' ? membership.last : undefined;
  if (last) {
    return last
      .filter(({ isLearner }) => !isLearner)
      .map((member) => {
        const slot = ours.find((one) => memberOf(one, [member]));
        return { name: slot?.name ?? nameOf(member), memberId: member.id, ...(slot && { slot }) };
      });
  }
  const remembered = ours.filter((slot) => !hasDeparted(slot) && recordOf(slot)?.state !== 'joining');
  return [
    ...remembered.map((slot) => {
      const memberId = recordOf(slot)?.memberId;
      return { name: slot.name, ...(memberId !== undefined && { memberId }), slot };
    }),
    ...withoutTrace(situation).map((name) => ({ name })),
  ];
}

/** Members of which neither volume nor peer is left, told from what the others recorded. */
function withoutTrace({ slots, cluster }: Situation): readonly string[] {
  const removed = cluster.status?.history
    ?.filter(({ action }) => action === 'retire-member')
    .map(({ target }) => target);
  const names = new Set(slots.flatMap((slot) => recordOf(slot)?.initialCluster ?? []).map(({ name }) => name));
  for (const name of [...slots.map(({ name }) => name), ...(removed ?? [])]) names.delete(name ?? '');
  return [...names];
}

/** Of its pod's host where it has not yet told its name. */
export function nameOf({ name, id, peerURLs }: ListedMember): string {
  if (name !== '') return name;
  const [url] = peerURLs;
  return (url !== undefined && URL.parse(url)?.hostname.split('.')[0]?.replace(/-0$/, '')) || id;
}

/** Why its data will not come back by themselves; `undefined`: they may. */
function lostBecause({ slot }: Voter, situation: Situation): string | undefined {
  if (!slot) return 'nothing of it is left';
  if (hasDeparted(slot)) return 'its volume says that it was left behind';
  const { volume, endpoint, pod } = slot;
  if (!volume) return 'its volume is gone';
  if (isOnOtherDisk(slot)) return 'its claim has another disk than it was sealed on';
  if (volume.lost) return 'what was behind its volume is gone';
  if (endpoint.kind === 'known') return undefined;
  if (volume.leaving) return 'its volume is being deleted';
  if (!pod || downFor(slot, situation) < graceOf(situation).member) return undefined;
  if (pod.leaving) {
    if (!hasOutlasted(slot, situation)) return undefined;
    return pod.node === undefined
      ? 'its pod does not end, as on a node that is dead'
      : `its pod does not end on node ${pod.node}, as on one that is dead`;
  }
  const gone = pod.unscheduled === undefined ? undefined : whyGone(volume);
  if (gone !== undefined) return `its pod finds no node: ${gone}`;
  const exits = isCrashing(pod.container) && endedByItself(pod.container);
  if (exits && answersOnTheSame(slot, situation)) return 'it starts and exits, although others run';
  return undefined;
}

function answersOnTheSame(slot: Slot, { slots }: Situation): boolean {
  return slots.some(
    (other) =>
      other !== slot &&
      other.endpoint.kind === 'known' &&
      other.statefulSet?.inputsHash === slot.statefulSet?.inputsHash,
  );
}

function survivorOf(voter: Voter): Survivor | undefined {
  const { slot } = voter;
  if (slot?.endpoint.kind !== 'known') return undefined;
  const { memberId, clusterId, raftIndex, raftTerm, revision } = slot.endpoint.status;
  const record = recordOf(slot);
  if (record?.memberId !== memberId || record.clusterId !== clusterId) return undefined;
  return { ...voter, slot, memberId, raftIndex, raftTerm, revision };
}

/**
 * By the entry up to which each knows that its log is decided: what is decided is the same everywhere, so the longer one has all of
 * the shorter. The term would mislead: it grows with every vote that somebody asks for. And it is this entry up to which etcd
 * keeps its log when it is told to go on alone; what it had not heard decided it throws away. Of equals, one whose volume stays.
 */
function byData(a: Survivor, b: Survivor): number {
  return (
    Number(b.raftIndex - a.raftIndex) ||
    Number(isGoing(a)) - Number(isGoing(b)) ||
    Number(b.raftTerm - a.raftTerm) ||
    a.slot.ordinal - b.slot.ordinal
  );
}

/** Its claim is being deleted: what it has is there as long as its pod runs, and nothing can go on from it. */
export function isGoing({ slot }: Survivor): boolean {
  return slot.volume?.leaving === true;
}
