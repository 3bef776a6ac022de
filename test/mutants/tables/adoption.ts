import type { Mutant } from '../mutant.ts';

const unit = 'test/unit/cluster';

/** What guards an adoption: nothing leaves that should not, and nothing is joined that does not fit (I13). */
export const ofAdoption: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: '  if (!isAdoptionApproved(situation)) return awaitApproval(existing, left, situation);\n',
    to: '',
    without: 'members of others leave before a person approves it (I13)',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: 'if (ours.length < effective.replicas) return',
    to: 'if (ours.length === 0) return',
    without: 'members of others leave before as many of ours vote as the spec asks (I13)',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: " || life.stage !== 'born' || !isAdoptionApproved(situation)) return undefined;",
    to: " || life.stage !== 'born') return undefined;",
    without: 'a member of others that is down leaves before a person approves it (I13)',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: '  if (!hasHealthyQuorum(situation)) return undefined;\n',
    to: '',
    without: 'a member of others leaves though no healthy quorum stays (I9)',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: 'Number(leads(a)) - Number(leads(b))',
    to: 'Number(leads(b)) - Number(leads(a))',
    without: 'the leader of the others leaves first',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/join-existing.ts',
    from: 'if (misfit) return',
    to: 'if (misfit && false) return',
    without: 'a cluster is joined that does not fit',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/know/inherited.ts',
    from: 'members: memberIDs.toSorted()',
    to: 'members: []',
    without: 'an approval holds for any members of a cluster',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-inherited.ts',
    from: "    if (cluster.annotations[annotations.adopt] !== approval) throw moved('the approval was taken back');\n",
    to: '',
    without: 'an approval that was taken back still removes a member (I13)',
    killers: [`${unit}/adoption.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/leave-existing.ts',
    from: '  if (!hasHealthyQuorum(situation)) {',
    to: '  if (false) {',
    without: 'a member of ours leaves others without a healthy quorum (I1)',
    killers: [`${unit}/adoption.test.ts`],
  },
];
