import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { annotations, ordinalOf, ports } from '../../../../../manifests/render/names.ts';
import type { OutvotedMember } from '../../../../../manifests/render/volume-record.ts';
import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { offered } from '../../../../reasons/offers.ts';
import type { Reason } from '../../../../reasons/reasons.ts';
import { existingInDoubt, goneForGood } from '../../../know/adoption/inherited.ts';
import { act, type Decision, refuse, refuseUntil, wait } from '../../../know/decision.ts';
import { type Ailment, isPassing } from '../../../know/health/ailment.ts';
import { ailmentOf } from '../../../know/health/health.ts';
import { personsAilment } from '../../../know/health/persons-ailment.ts';
import { isReported } from '../../../know/leftovers.ts';
import { hasDeparted, isBeingRecovered } from '../../../know/life.ts';
import { quorumOf } from '../../../know/membership/quorum.ts';
import type { Slot } from '../../../know/observation.ts';
import { isBlockedFor } from '../../../know/pods/blocked.ts';
import { stuckMember } from '../../../know/pods/stuck.ts';
import { byDisks, readOf } from '../../../know/recovery/disk-logs.ts';
import {
  approvalGiven,
  approvalOf,
  idOf,
  isGoing,
  type Loss,
  lossOf,
  nameOf,
  type Survivor,
} from '../../../know/recovery/lost.ts';
import type { Situation } from '../../../know/situation.ts';
import { hasRunHigher, mayGoBackTo } from '../../../know/versions/versions-run.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';
import { orRestore, restoring } from '../../restoring.ts';
import { cutShort } from '../birth/cut-short.ts';
import { droppedOf, fullestSilent, silentDisks, unseenIn } from './disks-in-words.ts';
import { asClientsSee, holding, inWords, listed, nodesFirst, whyNotBegun } from './loss-in-words.ts';
import { readLogs } from './read-logs.ts';

/**
 * The member list is unknown. While pods may still start, this waits; when so many voters are lost that no quorum can
 * return, a person reads what is lost, which member has the most data, and how to go on from there.
 *
 * Guards I9: without a list from a quorum, no member is replaced and nothing is deleted. The one exception is a
 * recovery that a person approves for exactly this loss.
 */
export function awaitQuorum(situation: Situation): Decision | undefined {
  const { membership, life } = situation;
  if (membership.kind === 'known') return undefined;
  // A member that is being recovered is the only one.
  const alone = situation.slots.filter(isBeingRecovered);
  const found = alone.length === 0 && life.stage !== 'unborn' && life.stage !== 'unclear' && lossOf(situation);
  const loss = found && byDisks(found);
  if (loss)
    return (
      beyondUs(loss, situation) ?? readLogs(loss, situation) ?? recovery(loss, situation) ?? quorumLost(loss, situation)
    );

  const held = heldBack(situation);
  if (held) return held;
  const cut = cutShort(situation);
  if (cut) return cut;
  const slots = alone.length > 0 ? alone : situation.slots.filter((slot) => isReported(slot) && !isOnOtherDisk(slot));
  const persons = personsAilment(slots, situation);
  if (persons) return refuse(persons.reason, persons.message, persons.cure);
  const ailments = slots.flatMap((slot) => ailmentOf(slot, situation) ?? []);
  const left = stuckMember(situation);
  if (left) return left;
  const apart = ailments
    .filter(isPassing)
    .find(({ reason }) => slots.some(({ endpoint }) => isApart(endpoint, reason)));
  if (apart) return wait(apart.reason, apart.message, { on: 'time', afterSeconds: 2 });
  return wait(
    'WaitingForQuorum',
    `${waitingFor(situation, slots, ailments)}${bornTooLarge(situation)}`,
    { on: 'change', of: 'pods' },
    { on: 'time', afterSeconds: 2 },
  );
}

/** Members of another origin may serve where they are not seen from here: nothing goes on without them. */
function beyondUs({ lost, silent }: Loss, situation: Situation): Decision | undefined {
  const { cluster } = situation;
  const existing = existingInDoubt(situation);
  if (!existing) return undefined;
  return refuseUntil(
    {
      approval: goneForGood(existing, situation),
      cure: 'bring its members back, or correct podLabels, clientPort or serverName of spec.bootstrap.existing; or, if they are gone for good, approve that: then what ours have is offered for a recovery',
      cluster,
    },
    'ExistingUnreachable',
    `no quorum answers, and the cluster that is taken over is part of it: ${listed([...lost, ...silent])} do not answer; ours make no cluster of their own while those may serve`,
  );
}

/**
 * A member that ran a higher minor should go back, and waits for a member that may still start on that minor. The
 * template of the latter cannot be corrected without ending its pod, and with the pod its PVC and the data of the lower
 * minor would disappear.
 */
function heldBack(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  const { version } = effective.inputs;
  const ran = slots.find((slot) => slot.peer?.current && hasRunHigher(slot, version));
  const higher = ran?.pod?.version;
  const holder = slots.find(
    (slot) => slot.volume?.leaving && slot.pod?.version === higher && !hasRunHigher(slot, version),
  );
  if (!ran || !holder?.pod || mayGoBackTo(version, situation)) return undefined;
  return refuse(
    'HeldBackByClaim',
    `${ran.name} has run etcd ${higher}, and may go back to ${version} only when ${holder.name} cannot start on ${higher} any more: its pod may, and its PVC is being deleted, so ending that pod would delete its data`,
    `set spec.version to ${higher} again, and correct what keeps members from running on it (why: ${kubectl(ran, `logs ${ran.name}-0 --previous`)})`,
  );
}

/** A person has approved exactly this loss. */
function recovery(loss: Loss, situation: Situation): Decision | undefined {
  const { life, membership, slots } = situation;
  const [best] = loss.survivors;
  if (life.stage !== 'born' || life.clusterId === undefined || !best?.slot.volume || !best.slot.peer?.current)
    return undefined;
  if (isGoing(best)) return undefined;
  // One of the two says which members are left behind: those of which no object is left as well.
  if (membership.kind === 'known' || !(membership.last ?? best.others)) return undefined;
  const { clusterId, strays } = life;
  const { id, text } = approvalOf(clusterId, loss);
  if (approvalGiven(situation) !== text) return undefined;
  const others = slots.filter((slot) => slot !== best.slot && !strays.includes(slot) && !hasDeparted(slot));
  const outvoted = allOf(membership.last ?? [], others, loss.survivors, situation).filter(
    ({ memberId }) => memberId !== best.memberId,
  );
  const volumes = others.flatMap(({ name, volume }) => (volume ? [{ name, uid: volume.uid }] : []));
  const { name, memberId, index } = best;
  const judged = [...loss.lost, ...loss.silent, ...loss.survivors];
  const onList = membership.last?.filter(({ isLearner }) => !isLearner).map((member) => member.id);
  return act(
    {
      kind: 'begin-recovery',
      id,
      clusterId,
      approval: text,
      volume: { name, uid: best.slot.volume.uid },
      memberId,
      raftIndex: String(index),
      shown: loss.survivors.flatMap((one) =>
        readOf(one, loss) ? [{ memberId: one.memberId, raftIndex: String(one.index) }] : [],
      ),
      voters: onList ?? judged.flatMap((one) => one.memberId ?? []),
      outvoted,
      volumes,
    },
    'RecoveringQuorum',
    `as approved, ${situation.cluster.metadata.name} goes on with the data of ${name}, and without ${outvoted.map((member) => member.name).join(', ')} for ever`,
  );
}

/**
 * Every member on the list, every one that a survivor without a list knows, and every one with a volume: the list is
 * that of one member, which may have missed later decisions. A name outside our pattern is left out, because a person
 * may have chosen it.
 */
function allOf(
  list: readonly ListedMember[],
  others: readonly Slot[],
  survivors: readonly Survivor[],
  { cluster }: Situation,
): readonly OutvotedMember[] {
  const listed = list.map((member) => {
    const name = nameOf(member);
    const isOurs = ordinalOf(cluster.metadata.name, name) !== undefined;
    return { name: isOurs ? name : member.id, memberId: member.id };
  });
  const remembered = others.flatMap((slot): OutvotedMember[] => {
    const memberId = idOf(slot);
    return memberId === undefined ? [] : [{ name: slot.name, memberId }];
  });
  const nameless = survivors.flatMap(({ others: known = [] }) => known.map((id) => ({ name: id, memberId: id })));
  return [...new Map([...nameless, ...remembered, ...listed].map((member) => [member.memberId, member])).values()];
}

function quorumLost(loss: Loss, situation: Situation): Decision {
  const { cluster, life } = situation;
  const { name } = cluster.metadata;
  const { lost, silent, survivors } = loss;
  const names = lost.map(inWords).join(', ');
  if (survivors.length + silent.length === 0) {
    return refuse(
      'AllMembersLost',
      `every member of ${name} is lost: ${names}; the cluster never starts empty in their place`,
      `${nodesFirst(lost)}${offered([
        {
          loses: 'nothing',
          cure: 'restore the disks themselves: PersistentVolumeClaims of these names, with their annotations, bound to the PersistentVolumes that they had; where there are only copies (snapshots of storage, all of one point in time), members on restored PVCs do not start before you approve that the cluster goes back to their data',
        },
        { loses: 'since', cure: `restore a backup: ${restoring(situation)}` },
      ])}`,
    );
  }
  const [best] = survivors;
  const gone = `${names}: lost, and with them the quorum of ${name}`;
  const unknown = unseenIn(loss);
  const onDisks = silentDisks(loss);
  const unseen = `${unknown.length > 0 ? `; ${listed(unknown)} not running, so their data are unknown` : ''}${onDisks}`;
  const fullest = fullestSilent(loss);
  if (!best || life.stage !== 'born' || life.clusterId === undefined) {
    return refuse(
      'QuorumLost',
      `${gone}; ${best ? holding(loss) : 'no other member answers'}${onDisks}`,
      life.stage === 'born'
        ? `${fullest ? `${fullest.name} has the most on its disk: make it run, and it is offered; or ` : ''}restore the lost members (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies), or make ${listed(silent)} run; where it runs, let etcd-ratchet reach its port ${ports.metrics}: without a quorum it answers there only`
        : 'no client was ever admitted: to start anew with no data, delete the EtcdCluster with its PersistentVolumeClaims, and create it again',
    );
  }
  if (isGoing(best)) {
    return refuse(
      'QuorumLost',
      `${gone}; ${holding(loss)}, and its volume is being deleted and disappears with its pod${unseen}`,
      `save the data of ${best.name} as long as its pod runs (etcdctl snapshot save needs no quorum), and restore lost members (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies)`,
    );
  }
  const { id, text } = approvalOf(life.clusterId, loss);
  const approves = `the cluster goes on with the data of ${best.name}, and without the others for ever`;
  const givenUp = listed([...lost, ...silent]);
  return refuseUntil(
    {
      approval: {
        annotation: annotations.recoverQuorum,
        value: text,
        approves,
        loses: `the data of ${givenUp} for ever: every write that ${best.name} does not have${droppedOf(best, loss)}; ${asClientsSee(best, { id, attempt: 1 }, situation)}`,
      },
      cure: `${fullest ? `make ${fullest.name} run, which is then offered; or ` : ''}restore lost members (their nodes, or their disks: the PersistentVolumeClaims with annotations, bound to the same PersistentVolumes; no older copies)${orRestore(situation)}; or approve that ${approves}`,
      cluster,
    },
    'QuorumLost',
    `${gone}; ${holding(loss)}${unseen}${whyNotBegun(text, best, situation)}`,
  );
}

/** Whether this TLS failure is what separates us from this endpoint, and it is not dead. */
function isApart(endpoint: Slot['endpoint'], reason: Reason): boolean {
  return endpoint.kind === 'unknown' && endpoint.tls !== undefined && endpoint.tls === reason;
}

/**
 * A recorded birth follows the spec only after a quorum of it has run: any member may have started with the recorded
 * list. After that, members that never ran are removed (`take-back`).
 */
function bornTooLarge({ life, cluster: { spec, metadata } }: Situation): string {
  if (life.stage !== 'birth' || life.clusterId !== undefined) return '';
  const recorded = life.record.initialCluster.length;
  if (spec.replicas === 0 || spec.replicas >= recorded) return '';
  return `; the birth was recorded with ${recorded} members: make room for ${quorumOf(recorded)}, and the others are removed; or, as no client was admitted yet, delete EtcdCluster ${metadata.name} with its PersistentVolumeClaims, and create it again`;
}

/** During birth the same message while members start one by one: each peer's own condition has the details. */
function waitingFor({ cluster, life }: Situation, slots: readonly Slot[], ailments: readonly Ailment[]): string {
  const { name } = cluster.metadata;
  const heldUp = ailments.find(
    ({ reason }) => reason === 'PodUnscheduled' || reason === 'OldObjectsLeaving' || isBlockedFor(reason),
  );
  if (heldUp) return life.stage === 'born' ? `${name} has no quorum: ${heldUp.message}` : heldUp.message;
  const allRun = ailments.every(({ reason }) => reason === 'NoQuorum' || reason === 'EndpointSilent');
  if (allRun) return `the members of ${name} run, but no quorum of them answers`;
  const missing = slots.filter(({ endpoint }) => endpoint.kind === 'unknown');
  return life.stage === 'born' && missing.length > 0
    ? `waiting for ${listed(missing)}: without them ${name} has no quorum`
    : `waiting for a quorum of the members of ${name} to start`;
}
