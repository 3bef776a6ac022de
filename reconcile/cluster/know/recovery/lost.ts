import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import type { ListedMember } from '../../../interfaces/etcd.ts';
import { timestamp } from '../../../time/timestamp.ts';
import { downFor, graceOf, hasOutlasted, notedSince } from '../health/grace.ts';
import { memberOf } from '../health/health.ts';
import { hasDeparted, recordOf } from '../life.ts';
import { quorumOf } from '../membership/quorum.ts';
import type { DiskLogView, Slot } from '../observation.ts';
import { endedByItself, isCrashing } from '../pods/endings.ts';
import type { Situation } from '../situation.ts';
import { isOnOtherDisk } from '../volumes/sealed-disk.ts';
import { whyGone } from '../volumes/volume-gone.ts';
import { byData, type Held, heldAnew } from './held.ts';

/** A quorum that is lost for good: nothing that is left can restore it by itself. */
export interface Loss {
  /** Voters whose data or nodes are gone, each with why. */
  readonly lost: readonly LostMember[];
  /** Voters that are not lost, and do not report their data. */
  readonly silent: readonly Voter[];
  /** Voters that do, the one with the most data first. */
  readonly survivors: readonly Survivor[];
}

export interface Voter {
  readonly name: string;
  readonly memberId?: string;
  readonly slot?: Slot;
  /** It has not been well since then, as its status notes it. */
  readonly since?: string;
}
export interface LostMember extends Voter {
  readonly because: string;
}
export interface Survivor extends Voter, Held {
  readonly memberId: string;
  readonly slot: Slot;
  readonly term?: bigint;
  /** It was started without a quorum, answers no client, and its metrics tell all this: the IDs of all others. */
  readonly others?: readonly string[];
}

/** `undefined` while a quorum may return. */
export function lossOf(situation: Situation): Loss | undefined {
  // Not noted yet: this step's report does it.
  const since = ({ slot }: Voter) => slot && { since: notedSince(slot, situation) ?? timestamp(situation.at) };
  const voters = votersOf(situation).map((voter): Voter => ({ ...voter, ...since(voter) }));
  // Never judged by name: a member that a person added by hand may have any name.
  const judged = voters.map((voter) => ({
    voter,
    because: lostBecause(voter, situation),
    survivor: survivorOf(voter),
  }));
  const lost = byName(judged.flatMap(({ voter, because }) => (because === undefined ? [] : [{ ...voter, because }])));
  if (voters.length - lost.length >= quorumOf(voters.length)) return undefined;
  const left = judged.filter(({ because }) => because === undefined);
  const survivors = left.flatMap(({ survivor }) => survivor ?? []).toSorted(byWorth);
  const silent = byName(left.flatMap(({ voter, survivor }) => (survivor ? [] : [voter])));
  return { lost, silent, survivors };
}

/** As a person reads them: etcd lists members by their IDs, which are by chance. */
function byName<M extends { readonly name: string }>(members: readonly M[]): readonly M[] {
  return members.toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }));
}

/**
 * What a person approves: the etcd cluster, exactly the members whose data are given up, the data that are kept, and
 * what was shown of disks. Members are named by their IDs, which are never used again. The kept data end at an entry of
 * raft's log, and every leader adds one: an approval that was not needed, because the quorum returned, fits no later
 * loss, not even one of the same members.
 */
export function approvalOf(clusterId: string, loss: Loss): { readonly id: string; readonly text: string } {
  const { lost, silent, survivors } = loss;
  const [best] = survivors;
  const given = [...lost, ...silent].map(({ memberId, name }) => memberId ?? name).toSorted();
  const kept = best && { memberId: best.memberId, raftIndex: String(best.index) };
  const disks = [...survivors, ...silent].flatMap(({ name, slot }) => shownOf(name, slot?.log)).toSorted();
  const id = hashOf({ clusterId, given, kept, ...(disks.length > 0 && { disks }) }).slice(0, 12);
  return { id, text: `${clusterId}/${id}` };
}

function shownOf(name: string, view: DiskLogView | undefined): readonly string[] {
  if (view?.kind !== 'read') return [];
  const { commit, consistentIndex, lastTerm, lastIndex } = view.log;
  return [`${name}: ${[commit, consistentIndex, lastTerm, lastIndex].join(', ')}`];
}

/** As a person set it; hostile or not, it is only ever compared. */
export function approvalGiven({ cluster }: Pick<Situation, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.recoverQuorum];
}

/**
 * A running member remembers the list; where none runs, volumes and peers and the lists that the volumes recorded do,
 * without the members that etcd-ratchet removed since.
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
      const memberId = idOf(slot);
      return { name: slot.name, ...(memberId !== undefined && { memberId }), slot };
    }),
    ...withoutTrace(situation).map((name) => ({ name })),
  ];
}

/** As its volume says, or, where that is gone, its status. */
export function idOf(slot: Slot): string | undefined {
  return recordOf(slot)?.memberId ?? slot.peer?.memberId;
}

/** Members without volume and peer, known from what the others recorded. */
function withoutTrace({ slots, cluster }: Situation): readonly string[] {
  const removed = cluster.status?.history
    ?.filter(({ action }) => action === 'retire-member')
    .map(({ target }) => target);
  const names = new Set(slots.flatMap((slot) => recordOf(slot)?.initialCluster ?? []).map(({ name }) => name));
  for (const name of [...slots.map(({ name }) => name), ...(removed ?? [])]) names.delete(name ?? '');
  return [...names];
}

/** From its pod's host where it has not reported its name yet. */
export function nameOf({ name, id, peerURLs }: ListedMember): string {
  if (name !== '') return name;
  const [url] = peerURLs;
  return (url !== undefined && URL.parse(url)?.hostname.split('.')[0]?.replace(/-0$/, '')) || id;
}

/** Why its data will not return by themselves; `undefined`: they may. */
function lostBecause({ slot }: Voter, situation: Situation): string | undefined {
  if (!slot) return 'none of its objects exists';
  if (hasDeparted(slot)) return 'its volume says that it was left behind';
  const { volume, endpoint, pod } = slot;
  if (!volume) return 'its volume is gone';
  if (isOnOtherDisk(slot)) return 'its PVC has another disk than the one it was sealed on';
  if (volume.lost) return 'the PersistentVolume of its PVC is gone';
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
      (other.endpoint.kind === 'known' || other.endpoint.metrics) &&
      other.statefulSet?.inputsHash === slot.statefulSet?.inputsHash,
  );
}

function survivorOf(voter: Voter): Survivor | undefined {
  const { slot } = voter;
  const record = slot && recordOf(slot);
  if (!slot || !record) return undefined;
  const { endpoint } = slot;
  if (endpoint.kind === 'unknown') {
    const told = heldAnew(record, endpoint.metrics);
    return told && { ...voter, slot, ...told };
  }
  const { memberId, clusterId, raftIndex: index, raftAppliedIndex, raftTerm: term, revision } = endpoint.status;
  if (record.memberId !== memberId || record.clusterId !== clusterId) return undefined;
  return { ...voter, slot, memberId, index, revision, term, isSettled: raftAppliedIndex >= index };
}

/** Of equals, the one whose volume stays; the term would mislead before that: it grows with every election. */
function byWorth(a: Survivor, b: Survivor): number {
  return (
    byData(a, b) ||
    Number(isGoing(a)) - Number(isGoing(b)) ||
    Number((b.term ?? 0n) - (a.term ?? 0n)) ||
    a.slot.ordinal - b.slot.ordinal
  );
}

/** Its PVC is being deleted: its data exist as long as its pod runs, and no recovery can go on from them. */
export function isGoing({ slot }: Survivor): boolean {
  return slot.volume?.leaving === true;
}
