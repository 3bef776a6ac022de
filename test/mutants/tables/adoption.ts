import type { Mutant } from '../mutant.ts';

const unit = 'test/unit/cluster';

/** What guards an adoption: nothing leaves that should not, and nothing is joined that does not fit (I13). */
export const ofAdoption: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: '  if (!isAdoptionApproved(situation)) return awaitApproval(existing, left, situation);\n',
    to: '',
    without: 'members of others leave before a person approves it (I13)',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: 'if (ours.length < effective.replicas) return',
    to: 'if (ours.length === 0) return',
    without: 'members of others leave before as many of ours vote as the spec asks (I13)',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: " || life.stage !== 'born' || !isAdoptionApproved(situation)) return undefined;",
    to: " || life.stage !== 'born') return undefined;",
    without: 'a member of others that is down leaves before a person approves it (I13)',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: '  if (!hasHealthyQuorum(situation)) return undefined;\n',
    to: '',
    without: 'a member of others leaves though no healthy quorum stays (I9)',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/take-over.ts',
    from: 'Number(leads(a)) - Number(leads(b))',
    to: 'Number(leads(b)) - Number(leads(a))',
    without: 'the leader of the others leaves first',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/join-existing.ts',
    from: 'if (misfit) return',
    to: 'if (misfit && false) return',
    without: 'a cluster is joined that does not fit',
    killers: [`${unit}/adoption-begins.test.ts`],
  },
  {
    file: 'reconcile/cluster/know/adoption/inherited.ts',
    from: 'members: memberIDs.toSorted()',
    to: 'members: []',
    without: 'an approval holds for any members of a cluster',
    killers: [`${unit}/adoption-planned.test.ts`],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-inherited.ts',
    from: "    if (cluster.annotations[annotations.adopt] !== approval) throw moved('the approval was taken back');\n",
    to: '',
    without: 'an approval that was taken back still removes a member (I13)',
    killers: [`${unit}/adoption-goes-on.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/leave-existing.ts',
    from: ': !hasHealthyQuorum(situation)) {',
    to: ': false) {',
    without: 'a member of ours leaves others without a healthy quorum (I1)',
    killers: [`${unit}/adoption-called-off.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/leave-existing.ts',
    from: 'isBegun(next) ? !isQuorumWithout(member.id, situation) : ',
    to: '',
    without: 'a deletion that had begun a removal waits for ever for a quorum that its member would complete',
    killers: [`${unit}/adoption-called-off.test.ts`, `${unit}/world/adoption-crashes.test.ts`],
  },
  {
    file: 'reconcile/cluster/observe/ask-etcd.ts',
    from: 'endpoints.filter((_, index) => !isOfAnother(statuses[index], existing))',
    to: 'endpoints',
    without: 'a pod that began a cluster of its own is asked to change the list of another',
    killers: [`${unit}/world/adoption-trouble.test.ts`],
  },
  {
    file: 'reconcile/cluster/know/adoption/existing-fitness.ts',
    from: 'wrongPod(candidate) ?? ',
    to: '',
    without: 'members join a cluster whose members never talk to them',
    killers: ['test/unit/plugin/adopt-sources.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/rules/adoption/join-existing.ts',
    from: '    if (membership.wantsUser) return notFit(authenticationIsOn);\n',
    to: '',
    without: 'a cluster with authentication is told as one that is not reached',
    killers: ['test/unit/plugin/adopt-sources.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/join.ts',
    from: ' || joining.pod?.leaving) return starting',
    to: ') return starting',
    without: 'a learner whose pod is being deleted becomes a voter (I1)',
    killers: [`${unit}/members-come-and-go.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/seal.ts',
    from: '!slot || slot.pod?.leaving || ',
    to: '!slot || ',
    without: 'a member is sealed and promoted in a pod that is being deleted (I1)',
    killers: [`${unit}/members-come-and-go.test.ts`],
  },
];
