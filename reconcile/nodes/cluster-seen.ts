import { annotations } from '../../manifests/render/names.ts';
import { decide } from '../cluster/decide/decide.ts';
import { driftInWords } from '../cluster/know/drift.ts';
import { ailmentOf, isInSync, memberOf, serves } from '../cluster/know/health/health.ts';
import { leads } from '../cluster/know/membership/leadership.ts';
import { votersOf } from '../cluster/know/membership/voters.ts';
import type { Slot } from '../cluster/know/observation.ts';
import type { Situation } from '../cluster/know/situation.ts';
import type { ClusterSeen, MemberSeen } from './observation.ts';

/** What matters of a cluster when a node is to go, by what its own step would see and decide. Pure. */
export function clusterSeen(situation: Situation): ClusterSeen {
  const { cluster, membership, slots } = situation;
  const { namespace, name } = cluster.metadata;
  const stopped = stoppedBecause(situation);
  const busy = busyWith(situation);
  const members = membership.kind === 'known' ? membership.members : [];
  const voters = votersOf(members).length;
  return {
    key: `${namespace}/${name}`,
    ...(stopped !== undefined && { stopped }),
    ...(busy && { busy }),
    mayLoseQuorum: cluster.spec.disruption?.whenQuorumIsLost === 'Allow',
    ...(membership.kind === 'known' && { clusterId: membership.clusterId }),
    voters,
    learners: members.length - voters,
    members: slots.map((slot) => memberSeen(slot, situation)),
  };
}

function memberSeen(slot: Slot, situation: Situation): MemberSeen {
  const { membership } = situation;
  const member = membership.kind === 'known' ? memberOf(slot, membership.members) : undefined;
  const isWell = serves(slot, situation) && isInSync(slot, situation);
  const ailment = isWell ? undefined : (ailmentOf(slot, situation)?.message ?? 'it is not in sync');
  return {
    name: slot.name,
    ...(member && { memberId: member.id }),
    ...(slot.pod?.node !== undefined && { node: slot.pod.node }),
    voter: member !== undefined && !member.isLearner,
    serves: isWell,
    leads: leads(slot),
    ...(ailment !== undefined && { ailment }),
    log: slot.endpoint.kind === 'known' ? slot.endpoint.status.raftAppliedIndex : 0n,
  };
}

function stoppedBecause({ cluster }: Situation): string | undefined {
  if (cluster.metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (cluster.spec.suspend) return 'is suspended';
  if (cluster.metadata.annotations?.[annotations.paused] !== undefined) return 'is paused';
  return undefined;
}

/** By the very rules of its own step. */
function busyWith(situation: Situation): ClusterSeen['busy'] {
  if (situation.lease.kind === 'held') return { kind: 'held', why: `${situation.lease.holder} acts on it` };
  // A pod that leaves its node is made anew of what is there (I16).
  const drifted = situation.slots.find(({ statefulSet }) => statefulSet?.drift);
  if (drifted?.statefulSet?.drift) return { kind: 'wait', why: driftInWords(drifted.name, drifted.statefulSet.drift) };
  const decision = decide(situation);
  const { kind, message: why } = decision;
  // It waits for days, and its members come back as they were: nodes that need a reboot can't wait as long.
  if (decision.reason === 'Soaking') return undefined;
  // However long it has lasted, what it waits for may come at any moment.
  if (kind === 'wait' || (kind === 'refuse' && decision.waited)) return { kind: 'wait', why };
  return kind === 'act' ? { kind, why } : undefined;
}
