import type { Mutant } from '../mutant.ts';

const membership = 'test/unit/cluster/actions/membership.test.ts';
const pods = 'test/unit/cluster/actions/pods.test.ts';
const largeSteps = 'test/unit/cluster/actions/large-steps.test.ts';
const fences = 'test/unit/cluster/requests/fences.test.ts';

/** What an action looks at again just before it acts, and the order of its writes: members and pods. */
export const ofMembersAndPods: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/actions/birth/prepare-members.ts',
    from: '    requireOneBirth(members, prepared);\n',
    to: '',
    without: 'members of a birth start beside a volume that is not of this birth (I5)',
    killers: [largeSteps],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/add-learner.ts',
    from: '      yield* forestallOtherRemovals(name, listed);\n',
    to: '',
    without: 'a learner is added while the mark of a removal may be on its way (I2)',
    killers: [largeSteps],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/seal-members.ts',
    from: '    if (!promotes) return;\n',
    to: '    if (promotes) return;\n',
    without: 'a member that is sealed is promoted where it is not asked, and not where it is (I5)',
    killers: [largeSteps],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/forestall-removals.ts',
    from: 'yield* each(others, (',
    to: 'yield* each(others.slice(1), (',
    without: 'one volume is left out when other removals are forestalled (I2)',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/forestall-removals.ts',
    from: 'if (begun) throw',
    to: 'yield* each(others.splice(0), ({ readAt }) => touchVolume({ readAt }));\n  if (begun) throw',
    without: 'other volumes are written to before it is known whether a removal of theirs was begun',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-member.ts',
    from: '    yield* requireTheirAgreement(listed, action);\n',
    to: '',
    without: 'a member leaves for its data, and whether the others still hold the same is not asked again',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-member.ts',
    from: " && one.leader !== '0' &&",
    to: ' &&',
    without: 'a member that follows no leader counts for the quorum of those that stay (I9)',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-member.ts',
    from: 'if (following.length < quorumOf(voters.length))',
    to: 'if (following.length < 0)',
    without: 'a member is removed though those that stay are no quorum (I9)',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/remove-member.ts',
    from: '  yield* forestallOtherRemovals(name, listed);\n  yield* writeRecord({',
    to: `  yield* writeRecord({ readAt, record: { ...record, memberId, clusterId, state: 'releasing' } });
  yield* forestallOtherRemovals(name, listed);
  if (listed) return;
  yield* writeRecord({`,
    without: 'a removal is begun before others are forestalled (I2)',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/promote-learner.ts',
    from: "if (volume.record.state !== 'sealed' || volume.record.memberId !== memberId || !settings?.immutable)",
    to: 'if (!volume && !settings)',
    without: 'a learner becomes a voter on a volume that is not sealed (I5)',
    killers: [membership],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/restart-member.ts',
    from: '    yield* clearToRun(name, pod, peer.inputs.version);\n',
    to: '',
    without: 'a member is started on a lower minor than it ran (I6)',
    killers: [pods],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/restart-member.ts',
    from: '[...others.leaving, ...(',
    to: '[...(',
    without: 'a member is started anew while the pod of another one leaves (I1)',
    killers: [pods],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/restart-member.ts',
    from: 'if (down !== undefined) throw moved(`',
    to: 'if (false) throw moved(`',
    without: 'a member is started anew while another one is not Ready (I1)',
    killers: [pods],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/recreate-pod.ts',
    from: 'if (pod.ready) throw',
    to: 'if (!pod) throw',
    without: 'a pod that has become Ready is deleted (I1)',
    killers: [pods],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/reconfigure-members.ts',
    from: 'pod.leaving || pod.ready || pod.revision',
    to: 'pod.leaving || pod.revision',
    without: 'a pod that has become Ready on an older template is deleted (I1)',
    killers: [pods],
  },
  {
    file: 'reconcile/cluster/act/requests/versions.ts',
    from: 'return !(await clusterVersions(live)).some((found) => isAbove(found, version));',
    to: 'return true;',
    without: 'a member goes back though the cluster version that members tell has moved (I6)',
    killers: [fences],
  },
  {
    file: 'reconcile/cluster/act/actions/context.ts',
    from: 'return { uid, ...(resourceVersion !== undefined && { resourceVersion }) };',
    to: 'return resourceVersion === undefined ? { uid } : { uid };',
    without: 'a deletion does not carry the resourceVersion that was read (I7)',
    killers: [fences],
  },
];
