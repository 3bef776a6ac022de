import type { Mutant } from '../mutant.ts';

const outage = 'test/unit/cluster/outage.test.ts';
const report = 'test/unit/fleet/report.test.ts';
const quota = 'reconcile/cluster/decide/rules/space/raise-quota.ts';
const conditions = 'reconcile/cluster/report/conditions.ts';

/** Clients that should be served are not: that is told, and what ends it waits for nothing else. */
export const ofOutages: readonly Mutant[] = [
  {
    file: quota,
    from: 'if (!isOutOfSpace(slots) || (',
    to: 'if ((',
    without: 'an outage is no reason: a larger quota never waits for room or a window',
    killers: [outage],
  },
  {
    file: quota,
    from: ' || (effective.replicas === 0 && !isAdopting(situation))',
    to: '',
    without: 'members that a person asks to stop are restarted for a quota first',
    killers: [outage],
  },
  {
    file: quota,
    from: ' && !isAdopting(situation)',
    to: '',
    without: 'members that cannot stop before an adoption ends get no larger quota in an outage',
    killers: ['test/unit/cluster/adoption-goes-on.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/restarting.ts',
    from: ' || isAdopting(situation)',
    to: '',
    without: 'while an adoption is unfinished, a restart waits for an eviction that the budget never allows',
    killers: ['test/unit/cluster/world/outage.test.ts'],
  },
  {
    file: quota,
    from: '  return { ...inputs, etcd:',
    to: '  return { ...effective.inputs, etcd:',
    without: 'an outage ends with the whole commit, the next version among it, and not with the quota alone',
    killers: [outage],
  },
  {
    file: quota,
    from: '    .toSorted((a, b) => reluctance(a.slot, situation) - reluctance(b.slot, situation));',
    to: ';',
    without: 'in an outage the leader gets its quota first',
    killers: ['test/unit/cluster/free-space.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/wait-for-window.ts',
    from: "['NoSpace', 'ReloadingAuthorities'] satisfies",
    to: '[] satisfies',
    without: 'a larger quota in an outage begins a roll of the whole commit outside the windows',
    killers: ['test/unit/cluster/maintenance.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/wait-for-window.ts',
    from: "(action === 'change-template' && cures.includes(reason))",
    to: 'cures.includes(reason)',
    without: 'a roll that was begun stops where space was freed meanwhile',
    killers: ['test/unit/cluster/maintenance.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/what-may-go-on.ts',
    from: "(kind === 'act' ? passing : isOutOfSpace(slots) ? besides : undefined)",
    to: "(kind === 'act' ? passing : slots.length < 0 && isOutOfSpace(slots) ? besides : undefined)",
    without: 'a change that waits hides the outage and its cure',
    killers: [outage],
  },
  {
    file: 'reconcile/cluster/know/outage.ts',
    from: "  if (membership.kind === 'known') return refusedWrites(slots);\n",
    to: "  if (membership.kind === 'known') return undefined;\n",
    without: 'refused writes are no outage',
    killers: [outage],
  },
  {
    file: 'reconcile/cluster/know/outage.ts',
    from: 'if (isCorrupt(slots))',
    to: 'if (slots.length < 0 && isCorrupt(slots))',
    without: 'refused writes for data that differ are no outage',
    killers: [outage],
  },
  {
    file: 'reconcile/cluster/know/outage.ts',
    from: ' && !slots.some(isAsleep)',
    to: '',
    without: 'a cluster that wakes is an outage',
    killers: [outage],
  },
  {
    file: conditions,
    from: 'meaningOf(reason)?.tells !== outage.reason ?',
    to: 'outage.message === message ?',
    without: 'what a cluster waits for hides its outage',
    killers: [outage],
  },
  {
    file: conditions,
    from: "  if (outage && courseOf(reason) === 'stopped') return stalled(reason, message);\n",
    to: '',
    without: 'a suspended cluster with an outage is as its commit asked',
    killers: [outage],
  },
  {
    file: 'reconcile/fleet/statements.ts',
    from: "  if (down) return reconciling('ClustersInProgress', named(down));\n",
    to: '',
    without: 'a fleet tells what it waits for before an outage',
    killers: [report],
  },
  {
    file: 'reconcile/fleet/statements.ts',
    from: 'if (stuck) return down && !stuck.tellsOutage ?',
    to: 'if (stuck) return down && stuck.tellsOutage && !stuck.tellsOutage ?',
    without: 'a fleet tells no outage beside what needs a person',
    killers: [report],
  },
  {
    file: 'reconcile/fleet/roll-up.ts',
    from: "verdict !== 'Terminating' && outageOf(object)",
    to: 'outageOf(object)',
    without: 'a cluster that is being deleted is an outage',
    killers: [report],
  },
  {
    file: 'reconcile/fleet/roll-up.ts',
    from: "return isCurrent && !isTrue(status, 'Stalled') &&",
    to: 'return isCurrent &&',
    without: 'a suspended cluster with an outage gives its commit success',
    killers: ['test/unit/fleet/roll-up.test.ts'],
  },
  {
    file: 'reconcile/backup/orders.ts',
    from: '!canBeRead(available) ||',
    to: "available?.status !== 'True' ||",
    without: 'no backup is taken of a cluster in an outage that can be read',
    killers: ['test/unit/backup/decide.test.ts'],
  },
];
