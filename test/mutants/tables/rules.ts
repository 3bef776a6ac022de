import type { Mutant } from '../mutant.ts';

const unit = 'test/unit/cluster';

/** What a step is decided by: the pure rules. */
export const ofRules: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/decide/rules/membership/heal.ts',
    from: " || life.stage !== 'born' || !hasHealthyQuorum(situation)",
    to: " || life.stage !== 'born'",
    without: 'a voter is replaced though the others are no healthy quorum (I9)',
    killers: [`${unit}/members-come-and-go.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/heal.ts',
    from: '  if (downFor(slot, situation) < graceOf(situation).member) return false;\n',
    to: '',
    without: 'a voter that is down is replaced without grace',
    killers: [`${unit}/members-come-and-go.test.ts`, `${unit}/volume-gone.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/heal.ts',
    from: " === 'joining') || voters.length < membership.members.length;",
    to: " === 'joining');",
    without: 'a learner that was asked for does not count as the one that comes',
    killers: [`${unit}/boundaries.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/volumes/outlive-volume.ts',
    from: 'serving.length - 1 < quorumOf(voters.length - 1)',
    to: 'serving.length < quorumOf(voters.length - 1)',
    without: 'a voter leaves though those that stay are one short of a quorum (I9)',
    killers: [`${unit}/boundaries.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/join.ts',
    from: '  if (joining.volume.leaving) return undefined;\n',
    to: '',
    without: 'a member joins on a disk that goes with its pod',
    killers: [`${unit}/explored.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/join.ts',
    from: 'url === undefined || others.some(({ isLearner }) => isLearner)',
    to: 'url === undefined',
    without: 'a second learner is added beside the first (I2)',
    killers: [`${unit}/boundaries.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/finish-rolling.ts',
    from: '  if (unknownAmong(voters, slots)) return undefined;\n',
    to: '',
    without: 'a member is started anew beside a voter that nothing stands for',
    killers: [`${unit}/finish-rolling.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/rolling/finish-rolling.ts',
    from: '  if (slots.some((slot) => isIll(slot, situation))) return undefined;\n',
    to: '',
    without: 'a member is started anew while another one is ill (I1)',
    killers: [`${unit}/finish-rolling.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/free-name.ts',
    from: '    outvoted.some((member) => member.name === peerName(clusterName, ordinal)) ||\n',
    to: '',
    without: 'the next member takes the number of one that a recovery left behind',
    killers: [`${unit}/members-come-and-go.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/deletion/finish-deletion.ts',
    from: 'if (slots.some(({ peer, pod, statefulSet }) => peer || pod || statefulSet))',
    to: 'if (!slots.some(({ peer, pod, statefulSet }) => peer || pod || statefulSet))',
    without: 'volumes are deleted while pods can write to them (I4)',
    killers: [`${unit}/finish-deletion.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/recovery/recovery-job.ts',
    from: 'if (isStale || (job.failed && isOutdated)) return',
    to: 'if (!isStale && !(job.failed && isOutdated)) return',
    without: 'the Job of another attempt is taken for this one',
    killers: [`${unit}/recover-quorum.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/seal.ts',
    from: 'return listed?.name === slot.name ?',
    to: 'return listed?.name !== slot.name ?',
    without: 'a volume is sealed as a member that the list does not have under its name (I5)',
    killers: [`${unit}/be-born.test.ts`, `${unit}/adopt-and-start.test.ts`, `${unit}/quorum-and-gate.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/unstick-pod.ts',
    from: 'return !madeAlready && endpoint.kind',
    to: 'return madeAlready && endpoint.kind',
    without: 'a pod is made anew again and again',
    killers: [`${unit}/recreate-pod.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/space/free-space.ts',
    from: 'size >= limitOf(quota)',
    to: 'size > limitOf(quota)',
    without: 'a database at its limit counts as one that has room',
    killers: [`${unit}/boundaries.test.ts`],
  },
  {
    file: 'reconcile/cluster/know/learners-time.ts',
    from: 'export const longer = 6;',
    to: 'export const longer = 1;',
    without: 'a learner that is being sent the data has no more time than one that is down',
    killers: [`${unit}/learners-time.test.ts`],
  },
  {
    file: 'reconcile/cluster/decide/rules/membership/let-removed-go.ts',
    from: ' && downFor(slot, situation) >= graceOf(situation).pod',
    to: '',
    without: 'a member that is not on the list is let go without grace',
    killers: [`${unit}/boundaries.test.ts`],
  },
];
