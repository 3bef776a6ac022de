import { existingOf } from '../../manifests/api/existing-cluster.ts';
import { finishDeletion } from '../../reconcile/cluster/decide/rules/deletion/finish-deletion.ts';
import { grow } from '../../reconcile/cluster/decide/rules/membership/scale.ts';
import { inheritedIn } from '../../reconcile/cluster/know/adoption/inherited.ts';
import { act, type Decision, wait } from '../../reconcile/cluster/know/decision.ts';
import { hasHealthyQuorum } from '../../reconcile/cluster/know/membership/voters.ts';
import type { Observation } from '../../reconcile/cluster/know/observation.ts';
import type { Rule } from '../../reconcile/cluster/know/situation.ts';
import { type Bug, instead } from './seeding.ts';

export const adoptionBugs: readonly Bug[] = [
  {
    name: 'forgets at a commit',
    what: 'a commit that removes bootstrap.existing while members of others vote is believed',
    violates: 'convergence',
    scenario: 'adopt 1, and forget what was there',
    faults: {},
    seed: (code) => ({ ...code, decide: (observation) => code.decide(believing(observation)) }),
  },
  {
    name: 'lets go of what it forgot',
    what: 'bootstrap.existing was removed, and a deletion that finds no list takes it that no others need ours',
    violates: 'convergence',
    scenario: 'adopt 1, forget it, and a process ends',
    faults: { crash: 1 },
    seed: (code) => ({ ...code, decide: (seen) => code.decide(isListed(seen) ? seen : believing(seen)) }),
  },
  {
    name: 'goes-without-asking',
    what: 'an adoption was called off, and the deletion asks no list whether members of others vote beside ours',
    violates: 'convergence',
    scenario: 'adopt 1, call it off, and delete it',
    faults: {},
    seed: (code) => instead(code, 'finishDeletion', (situation) => finishDeletion(forgetting(situation))),
  },
  {
    name: 'others leave unasked',
    what: 'members of another origin are removed as soon as ours vote, without an approval',
    violates: 'I13',
    scenario: 'adopt 3 as 1',
    faults: {},
    seed: (code) => instead(code, 'takeOver', removing),
  },
  {
    name: 'deleted at once',
    what: 'an EtcdCluster is deleted while members of another origin need its members for a quorum',
    violates: 'I13',
    scenario: 'adopt 1, and delete it meanwhile',
    faults: {},
    seed: (code) => {
      const { decide } = instead(code, 'finishDeletion', (situation) => finishDeletion(forgetting(situation)));
      return { ...code, decide };
    },
  },
  {
    name: 'begun and forgotten',
    what: 'a removal that a deletion has begun waits for the health of the member that leaves',
    violates: 'convergence',
    scenario: 'adopt 3, approve, and delete it',
    faults: { death: 1 },
    seed: (code) => instead(code, 'finishDeletion', leavingOnlyInHealth),
  },
];

function leavingOnlyInHealth(situation: Parameters<Rule>[0]): Decision | undefined {
  const decision = finishDeletion(situation);
  if (decision?.reason !== 'LeavingExisting' || hasHealthyQuorum(situation)) return decision;
  return wait('AdoptionUnfinished', 'no healthy quorum', { on: 'change', of: 'pods' });
}

/** Neither spec, status nor a list tells of members of others. */
function forgetting(situation: Parameters<Rule>[0]): Parameters<Rule>[0] {
  const { existing: _, ...status } = situation.cluster.status ?? { observedGeneration: 0 };
  const cluster = { ...situation.cluster, spec: { ...situation.cluster.spec, bootstrap: {} }, status };
  return { ...situation, inherited: [], cluster, ...unlisted };
}

function removing(situation: Parameters<Rule>[0]): Decision | undefined {
  const existing = existingOf(situation.cluster);
  const [next] = inheritedIn(situation);
  if (!existing || !next) return undefined;
  const leaves = { name: next.member.name, memberId: next.member.id, clusterId: existing.clusterID } as const;
  return grow(situation) ?? act({ kind: 'remove-member', ...leaves }, 'RemovingInherited', `removing ${leaves.name}`);
}

/** No list tells of members of others, either. */
const unlisted = { membership: { kind: 'unknown', cause: 'it is not asked' } } as const;

/** The status keeps nothing of what the spec said. */
function believing(observation: Observation): Observation {
  const { cluster, inherited, ...seen } = observation;
  const { existing: _, ...status } = cluster.status ?? { observedGeneration: 0 };
  const isNamed = cluster.spec.bootstrap?.existing !== undefined;
  return { ...seen, cluster: { ...cluster, status }, ...(isNamed && inherited && { inherited }) };
}

function isListed({ membership }: Observation): boolean {
  return membership.kind === 'known';
}
