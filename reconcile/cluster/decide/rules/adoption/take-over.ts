import { type ExistingCluster, existingOf } from '../../../../../manifests/api/existing-cluster.ts';
import { annotations } from '../../../../../manifests/render/names.ts';
import type { ActionOf } from '../../../know/action.ts';
import { misfitOf } from '../../../know/adoption/existing-fitness.ts';
import {
  approvalOfAdoption,
  type Inherited,
  inheritedIn,
  isAdoptionApproved,
  isWell,
  namesOf,
} from '../../../know/adoption/inherited.ts';
import { act, type Decision, refuse, refuseUntil } from '../../../know/decision.ts';
import { minAvailableFor } from '../../../know/health/drains.ts';
import { memberOf } from '../../../know/health/health.ts';
import { successorAmongOurs } from '../../../know/membership/leadership.ts';
import { hasHealthyQuorum, votersOf } from '../../../know/membership/voters.ts';
import type { Situation } from '../../../know/situation.ts';
import { waitToBegin } from '../../wait-for-window.ts';
import { grow } from '../membership/scale.ts';

/**
 * While members of another origin vote beside ours: first as many of ours join as the spec asks for, then, as a person
 * approved, the others leave, one at a time, the leader last. Nothing else of the spec is changed before, except a
 * quota in an outage (`raise-quota`).
 *
 * Guards I1 and I9: every member is a healthy voter, and one leaves at a time. Leaders hand over to one of ours.
 */
export function takeOver(situation: Situation): Decision | undefined {
  const { membership, effective, life, slots } = situation;
  const existing = existingOf(situation.cluster);
  const left = inheritedIn(situation);
  const [next] = left.toSorted((a, b) => Number(leads(a)) - Number(leads(b)));
  if (!existing || !next || membership.kind === 'unknown' || life.stage !== 'born') return undefined;
  if (effective.replicas === 0) {
    return refuse(
      'AdoptionUnfinished',
      `the spec asks for no members, and ${namesOf(left)} need those that joined them for a quorum`,
      'set spec.replicas to what it was until they have left; or, to call the adoption off, delete the EtcdCluster: its members then leave one at a time',
    );
  }
  const voters = votersOf(membership.members);
  const ours = slots.filter((slot) => memberOf(slot, voters));
  if (ours.length < effective.replicas) return mayGrow(existing, left, situation) ?? grow(situation);
  if (!isAdoptionApproved(situation)) return awaitApproval(existing, left, situation);
  return (
    waitToBegin(situation) ??
    act(
      leaving(next, existing, situation),
      'RemovingInherited',
      `removing ${next.member.name} (${next.member.id}) from the member list, as approved: ${ours.length} members of ours vote; its pod and its volume stay`,
    )
  );
}

/**
 * A member of another origin that is down leaves before the others, where a person approved that all of them do.
 *
 * Guards I9: a quorum of the others is healthy, each seen directly.
 */
export function dropInherited(situation: Situation): Decision | undefined {
  const { life } = situation;
  const existing = existingOf(situation.cluster);
  const down = inheritedIn(situation).find((one) => !isWell(one));
  if (!existing || !down || life.stage !== 'born' || !isAdoptionApproved(situation)) return undefined;
  if (!hasHealthyQuorum(situation)) return undefined;
  return act(
    leaving(down, existing, situation),
    'RemovingInherited',
    `removing ${down.member.name} (${down.member.id}) from the member list, as approved: it does not answer, and a quorum of the others is healthy`,
  );
}

/** Before the gate would wait for it: one of those that are to leave does not answer. */
export function inheritedDown(situation: Situation): Decision | undefined {
  const existing = existingOf(situation.cluster);
  const all = inheritedIn(situation);
  const down = all.filter((one) => !isWell(one));
  if (!existing || down.length === 0) return undefined;
  const those = down.map(({ member }) => `${member.name} (${member.id})`).join(', ');
  const are =
    down.length === 1
      ? 'a member of the cluster that is taken over, does'
      : 'members of the cluster that is taken over, do';
  const cure = `bring its pod back, or correct podLabels of spec.bootstrap.existing so that it is asked; if it never returns, approve that all of ${namesOf(all)} leave`;
  return refuseUntil(
    { approval: approvalFor(existing, all), cure, cluster: situation.cluster },
    'InheritedMemberDown',
    `${those}, ${are} not answer: no member joins or leaves meanwhile`,
  );
}

function mayGrow(
  existing: ExistingCluster,
  inherited: readonly Inherited[],
  { effective }: Situation,
): Decision | undefined {
  const { inputs } = effective;
  const misfit = misfitOf({ existing, inputs, members: [], inherited, joined: true });
  return misfit && refuse('ExistingNotFit', `no further member joins: ${misfit.message}`, misfit.cure);
}

function awaitApproval(existing: ExistingCluster, left: readonly Inherited[], situation: Situation): Decision {
  const { cluster, effective } = situation;
  const { name, namespace = '' } = cluster.metadata;
  return refuseUntil(
    {
      approval: approvalFor(existing, left),
      cure: `stop what manages them (an operator would add them again), let every client use ${name}.${namespace}.svc, and approve that they leave`,
      cluster,
    },
    'AdoptionNotApproved',
    `${effective.replicas} members of ours vote, and ${namesOf(left)} still do: they stay until a person approves that they leave`,
  );
}

function approvalFor(existing: ExistingCluster, left: readonly Inherited[]) {
  return {
    annotation: annotations.adopt,
    value: approvalOfAdoption(existing),
    approves: `${namesOf(left)} leave etcd cluster ${existing.clusterID}, one at a time, and never return`,
    loses: `no data: ours have all of it. Clients that only know the addresses of ${namesOf(left)} lose their connection, and the volumes of these grow old`,
  };
}

function leaving({ member }: Inherited, existing: ExistingCluster, situation: Situation): ActionOf<'remove-inherited'> {
  const { membership, shared } = situation;
  const successor = successorAmongOurs(situation);
  const voters = membership.kind === 'known' ? votersOf(membership.members).length - 1 : 0;
  const minAvailable = minAvailableFor(voters, situation);
  const { disruptionBudget } = shared;
  const isOurs = disruptionBudget.state === 'present' && disruptionBudget.minAvailable !== minAvailable;
  return {
    kind: 'remove-inherited',
    name: member.name,
    memberId: member.id,
    clusterId: existing.clusterID,
    approval: approvalOfAdoption(existing),
    ...(successor && { successor }),
    ...(isOurs && { minAvailable }),
  };
}

function leads({ member, status }: Inherited): boolean {
  return status?.leader === member.id;
}
