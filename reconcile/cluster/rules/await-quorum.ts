import { annotateCommand } from '../../../manifests/build/kubectl.ts';
import { annotations, ordinalOf } from '../../../manifests/build/names.ts';
import type { OutvotedMember } from '../../../manifests/build/volume-record.ts';
import type { ListedMember } from '../../etcd.ts';
import type { Ailment } from '../ailment.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { ailmentOf } from '../health.ts';
import { isHeldUpFor } from '../held-up.ts';
import { isToBeTold } from '../leftovers.ts';
import { hasDeparted, recordOf } from '../life.ts';
import {
  approvalGiven,
  approvalOf,
  isGoing,
  type Loss,
  type LostMember,
  lossOf,
  nameOf,
  type Survivor,
} from '../lost.ts';
import type { Slot } from '../observation.ts';
import { personsAilment } from '../persons-ailment.ts';
import { quorumOf } from '../quorum.ts';
import { isOnOtherDisk } from '../sealed-disk.ts';
import { whatStays } from '../staying.ts';
import { hasRunHigher, mayGoBackTo } from '../versions-run.ts';

/**
 * Membership is unknown. While pods may still come that is waited for; when so many voters are lost that no quorum can come back,
 * a person is told what is lost, who has the most data, and how to go on from there.
 *
 * Guards I9: without a list that a quorum stands behind, no member is replaced and nothing is deleted. The one exception is what
 * a person approves, of exactly this loss.
 */
export function awaitQuorum(situation: Situation): Decision | undefined {
  const { membership, life } = situation;
  if (membership.kind === 'known') return undefined;
  // Whoever is being recovered is the only member there is.
  const alone = situation.slots.filter(isBeingRecovered);
  const loss = alone.length === 0 && life.stage !== 'unborn' && life.stage !== 'unclear' && lossOf(situation);
  if (loss) return recovery(loss, situation) ?? quorumLost(loss, situation);

  const held = heldBack(situation);
  if (held) return held;
  const slots = alone.length > 0 ? alone : situation.slots.filter((slot) => isToBeTold(slot) && !isOnOtherDisk(slot));
  const persons = personsAilment(slots, situation);
  if (persons) return refuse(persons.reason, persons.message, persons.cure);
  const ailments = slots.flatMap((slot) => ailmentOf(slot, situation) ?? []);
  const left = whatStays(situation);
  if (left) return left;
  const apart = ailments.find(({ reason }) => slots.some(({ endpoint }) => isApart(endpoint, reason)));
  if (apart) return wait(apart.reason, apart.message, { on: 'time', afterSeconds: 2 });
  return wait(
    'WaitingForQuorum',
    `${waitingFor(situation, slots, ailments)}${bornTooLarge(situation)}`,
    { on: 'change', of: 'pods' },
    { on: 'time', afterSeconds: 2 },
  );
}

/**
 * Who ran a higher minor than the one that it is to go back to waits for somebody who may yet come up on that, and whose template nobody can
 * put right without ending its pod, with which its claim, and the data of that lower minor, would go.
 */
function heldBack(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  const { version } = effective.inputs;
  const ran = slots.find(({ peer, pod }) => peer?.current && hasRunHigher(pod, version));
  const higher = ran?.pod?.version;
  const holder = slots.find(
    ({ volume, pod }) => volume?.leaving && pod?.version === higher && !hasRunHigher(pod, version),
  );
  if (!ran || !holder?.pod || mayGoBackTo(version, situation)) return undefined;
  return refuse(
    'HeldBackByClaim',
    `${ran.name} has run etcd ${higher}, and may go back to ${version} only when ${holder.name} can't start on ${higher} any more: its pod may, and its claim is being deleted, so that ending that pod would end its data`,
    `set spec.version to ${higher} again, and correct what keeps members from running on it (kubectl logs ${ran.name}-0 --previous says why)`,
  );
}

export function isBeingRecovered(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return state === 'recovering' || state === 'recovered';
}

/** A person has approved exactly this loss. */
function recovery(loss: Loss, situation: Situation): Decision | undefined {
  const { life, membership, slots } = situation;
  const [best] = loss.survivors;
  if (life.stage !== 'born' || life.clusterId === undefined || !best?.slot.volume || !best.slot.peer?.current)
    return undefined;
  if (isGoing(best)) return undefined;
  if (membership.kind === 'known' || !membership.last) return undefined;
  const { clusterId, strays } = life;
  const { id, text } = approvalOf(clusterId, loss);
  if (approvalGiven(situation) !== text) return undefined;
  const others = slots.filter((slot) => slot !== best.slot && !strays.includes(slot) && !hasDeparted(slot));
  const outvoted = allOf(membership.last, others, situation).filter(({ memberId }) => memberId !== best.memberId);
  const volumes = others.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  const { name, memberId, raftIndex } = best;
  return act(
    {
      kind: 'begin-recovery',
      id,
      clusterId,
      approval: text,
      volume: { name, uid: best.slot.volume.uid },
      memberId,
      raftIndex: String(raftIndex),
      voters: membership.last.flatMap((member) => (member.isLearner ? [] : [member.id])),
      outvoted,
      volumes,
    },
    'RecoveringQuorum',
    `as approved, ${situation.cluster.metadata.name} goes on with what ${name} has, and without ${outvoted.map((member) => member.name).join(', ')} for ever`,
  );
}

/**
 * Everybody on the list, and whoever has a volume: the list is that of one member, who may have missed what the others decided. A
 * name that is none of ours is somebody's own, and may be anything.
 */
function allOf(
  list: readonly ListedMember[],
  others: readonly Slot[],
  { cluster }: Situation,
): readonly OutvotedMember[] {
  const listed = list.map((member) => {
    const name = nameOf(member);
    const isOurs = ordinalOf(cluster.metadata.name, name) !== undefined;
    return { name: isOurs ? name : member.id, memberId: member.id };
  });
  const remembered = others.flatMap((slot): OutvotedMember[] => {
    const memberId = recordOf(slot)?.memberId;
    return memberId === undefined ? [] : [{ name: slot.name, memberId }];
  });
  return [...new Map([...remembered, ...listed].map((member) => [member.memberId, member])).values()];
}

function quorumLost(loss: Loss, situation: Situation): Decision {
  const { cluster, life } = situation;
  const { name } = cluster.metadata;
  const { lost, silent, survivors } = loss;
  const who = lost.map(inWords).join(', ');
  if (survivors.length + silent.length === 0) {
    return refuse(
      'AllMembersLost',
      `every member of ${name} is lost: ${who}; it is never started empty in their place`,
      'bring the disks themselves back: PersistentVolumeClaims of these names, with their annotations, bound to the PersistentVolumes that they had; where there are only copies (snapshots of storage, all of one point in time), restored claims are not started before you approve that the cluster goes back to what they hold; or delete the EtcdCluster and what is left of its claims, create it again, and load a snapshot of etcd into it',
    );
  }
  const [best] = survivors;
  const gone = `${who}: lost, and with them the quorum of ${name}`;
  const unseen = silent.length > 0 ? `; ${listed(silent)} not running, so that nobody knows what they have` : '';
  if (!best || life.stage !== 'born' || life.clusterId === undefined) {
    return refuse(
      'QuorumLost',
      `${gone}; ${best ? holding(best) : 'no other member answers'}`,
      life.stage === 'born'
        ? `bring the lost members back (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies), or make ${listed(silent)} run`
        : 'no client was ever let in: delete the EtcdCluster with its PersistentVolumeClaims, and create it again',
    );
  }
  if (isGoing(best)) {
    return refuse(
      'QuorumLost',
      `${gone}; ${holding(best)}, and its volume is being deleted and goes with its pod${unseen}`,
      `save what ${best.name} has as long as its pod runs (etcdctl snapshot save needs no quorum), and bring lost members back (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies)`,
    );
  }
  const { text } = approvalOf(life.clusterId, loss);
  const given = approvalGiven(situation);
  const other =
    given === undefined
      ? ''
      : `; the approval that is there (${annotations.recoverQuorum}) is for another loss, and void`;
  return refuse(
    'QuorumLost',
    `${gone}; ${holding(best)}${unseen}${other}`,
    `bring lost members back (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies); or approve that it goes on with what ${best.name} has, and without the others for ever: ` +
      annotateCommand('etcdclusters', cluster.metadata, annotations.recoverQuorum, text),
  );
}

function inWords({ name, because }: LostMember): string {
  return `${name} (${because})`;
}

function holding({ name, raftTerm, raftIndex, revision }: Survivor): string {
  return `of those that answer ${name} has the most data (term ${raftTerm}, index ${raftIndex}, revision ${revision})`;
}

function listed(members: readonly { readonly name: string }[]): string {
  return members.map(({ name }) => name).join(', ');
}

/** Whether that is what is wrong between us and this endpoint: TLS, and not that it is dead. */
function isApart(endpoint: Slot['endpoint'], reason: string): boolean {
  return endpoint.kind === 'unknown' && endpoint.tls !== undefined && endpoint.tls === reason;
}

/**
 * What was recorded can't be corrected by the spec before a quorum of it has run: any of them may have started on the recorded list. Then
 * those that never ran are taken back (`take-back`).
 */
function bornTooLarge({ life, cluster: { spec, metadata } }: Situation): string {
  if (life.stage !== 'birth' || life.clusterId !== undefined) return '';
  const recorded = life.record.initialCluster.length;
  if (spec.replicas === 0 || spec.replicas >= recorded) return '';
  return `; the birth was recorded with ${recorded} members: make room for ${quorumOf(recorded)}, and the others are taken back; or, as no client was let in yet, delete EtcdCluster ${metadata.name} with its PersistentVolumeClaims, and create it again`;
}

/** During birth the same words while members come up one by one: each peer's own condition has the details. */
function waitingFor({ cluster, life }: Situation, slots: readonly Slot[], ailments: readonly Ailment[]): string {
  const { name } = cluster.metadata;
  const heldUp = ailments.find(
    ({ reason }) => ['PodUnscheduled', 'OldObjectsLeaving'].includes(reason) || isHeldUpFor(reason),
  );
  if (heldUp) return heldUp.message;
  const allRun = ailments.every(({ reason }) => reason === 'NoQuorum' || reason === 'EndpointSilent');
  if (allRun) return `the members of ${name} run, but no quorum of them answers`;
  const missing = slots.filter(({ endpoint }) => endpoint.kind === 'unknown');
  return life.stage === 'born' && missing.length > 0
    ? `waiting for ${listed(missing)}: without them ${name} has no quorum`
    : `waiting for a quorum of the members of ${name} to start`;
}
