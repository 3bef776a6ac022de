import type { Mutant } from '../mutant.ts';

const unit = 'test/unit/plugin';
const move = 'functions/plugin/members/move-leader.ts';
const etcdctl = 'functions/plugin/members/etcdctl.ts';
const ways = 'functions/plugin/members/ways.ts';

/** What `kubectl ratchet` asks of members with a person's rights. */
export const ofPlugin: readonly Mutant[] = [
  {
    file: move,
    from: 'if (clusterId !== undefined && list.clusterId !== clusterId)',
    to: 'if (clusterId === list.clusterId && list.clusterId !== clusterId)',
    without: 'the leader of another etcd cluster, behind the same addresses, is moved',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: "if (leaderId === '0' || others.length > 0)",
    to: "if (leaderId === '0')",
    without: 'the leadership is moved while members name different leaders',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: "if (leaderId === '0' || others.length > 0)",
    to: 'if (others.length > 0)',
    without: 'the leadership is moved during an election',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: 'listed.isLearner || status.isLearner',
    to: 'listed.isLearner',
    without: 'a learner that the list has as a voter is asked to lead',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: 'status.errors.length > 0',
    to: 'status.errors.length > 9',
    without: 'a member with an alarm is made the leader',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: ': lag > maxLag',
    to: ': lag > maxLag && lag < maxLag',
    without: 'a member that is behind is made the leader, and clients wait until it has the log',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: '    if (status?.step)\n',
    to: '    if (status?.step && !status.step)\n',
    without: 'the leadership moves while etcd-ratchet takes a step',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: 'const fit = chosen(now, target.member, place);',
    to: 'const fit = target;',
    without: 'a member that became ill after the first look is made the leader',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: 'if (naming.length >= quorumOf(voters))',
    to: 'if (naming.length > 0)',
    without: 'one member’s word counts as a new leader',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: move,
    from: "if (asked.stop.aborted) return 'stopped';",
    to: "if (asked.stop.aborted) return 'late';",
    without: 'a person who stops the wait is told that no quorum names the new leader',
    killers: [`${unit}/move-leader.test.ts`],
  },
  {
    file: etcdctl,
    from: 'mode: 0o600, ',
    to: 'mode: 0o644, ',
    without: 'the key of a cluster’s clients is readable by others',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: etcdctl,
    from: "!variable.startsWith('ETCDCTL_')",
    to: 'variable.length > 0',
    without: 'a person’s setting for another cluster turns verification off for this one',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: etcdctl,
    from: "child.kill('SIGHUP');",
    to: '',
    without: 'etcdctl goes on for a while after Ctrl-C',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: etcdctl,
    from: "late = setTimeout(() => child.kill('SIGKILL'), patience);",
    to: '',
    without: 'a shell that ignores signals keeps the keys on the disk for ever',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: etcdctl,
    from: 'printable(one)',
    to: 'one',
    without: 'words of an API server reach the terminal with their control characters',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: ways,
    from: "mode === 'Disabled' ? undefined : pod.status.podIP",
    to: 'pod.status.podIP',
    without: 'a command goes to an etcd of another network that has the address of a pod, and no TLS tells',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: ways,
    from: 'await Promise.allSettled(',
    to: 'await (async (all: Promise<readonly Way[]>[]) => (await Promise.all(all)).map((value) => ({ status: "fulfilled", value }) as const))(',
    without: 'a way that is made after another failed is never given back',
    killers: [`${unit}/etcdctl.test.ts`],
  },
  {
    file: 'functions/plugin/pre/checks.ts',
    from: "return recordsOf(found?.versions).some(({ version }) => version === 'v1');",
    to: 'return recordsOf(found?.versions).length >= 0;',
    without: 'check --pre asks for a path that an API server may not have, and ends there',
    killers: [`${unit}/pre-check.test.ts`],
  },
  {
    file: 'functions/page/told.ts',
    from: 'goesOn.test(cure.slice(index + one.length, index + one.length + 2)) ? [] : ',
    to: '',
    without: 'the page offers a part of a command to copy',
    killers: ['test/unit/page/told.test.ts'],
  },
];
