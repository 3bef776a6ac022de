import type { Mutant } from '../mutant.ts';

const shardFile = 'reconcile/stepping/shard.ts';
const ofShares: Mutant['killers'] = ['test/unit/stepping/shard.test.ts'];
const ofPasses: Mutant['killers'] = ['test/unit/pass/shards.test.ts'];
const ofJobs: Mutant['killers'] = ['test/unit/functions/shard.test.ts'];

const ofRoom: Mutant['killers'] = ['test/unit/cluster/room-now.test.ts'];

/** Several invocations that share out a pass. */
export const ofShards: readonly Mutant[] = [
  {
    file: shardFile,
    from: '!missing.includes(own)',
    to: 'true',
    without: 'what is of a shard that fails is stepped by none',
    killers: ofShares,
  },
  {
    file: shardFile,
    from: 'own === index || !missing',
    to: '!missing',
    without: 'a shard that is back waits until its passes are seen',
    killers: ofShares,
  },
  {
    file: 'reconcile/fleet/unit.ts',
    from: 'metadata.labels?.[labels.fleet] ?? `namespace',
    to: '`namespace',
    without: 'clusters of a fleet are stepped from two looks at once, and more change than may',
    killers: ofShares,
  },
  {
    file: 'reconcile/stepping/step-kind.ts',
    from: 'return all.filter((_, index) => isIn(',
    to: 'return all.filter((_, index) => true || isIn(',
    without: 'each shard steps everything',
    killers: ofPasses,
  },
  {
    file: 'reconcile/fleet/unit.ts',
    from: '((item) => !isIn(',
    to: '((item) => isIn(',
    without: 'a shard holds in memory what the others step, whole',
    killers: ofPasses,
  },
  {
    file: 'reconcile/fleet/apply.ts',
    from: "planned.kind === 'update' ? live : undefined",
    to: 'live',
    without: 'a shard takes over what another one stepped, and fields of its fleet stay for ever',
    killers: ['test/integration/fleet/ownership.test.ts'],
  },
  {
    file: 'reconcile/cluster/step.ts',
    from: 'const crowdedBy = await roomNow',
    to: 'const crowdedBy = undefined && await roomNow',
    without: 'two invocations that saw other parts of a commit begin with more clusters than may change',
    killers: ['test/unit/pass/two-at-a-fleet.test.ts'],
  },
  {
    file: 'reconcile/cluster/observe/room-now.ts',
    from: 'status?.step && Date.parse(status.step.deadline) > at.getTime()',
    to: 'status?.step',
    without: 'what an invocation left that died keeps the room of a fleet',
    killers: ofRoom,
  },
  {
    file: 'reconcile/cluster/observe/room-now.ts',
    from: ' && wantsToChange(now)',
    to: '',
    without: 'a healing keeps the room of a fleet that it does not need',
    killers: ofRoom,
  },
  {
    file: 'reconcile/stepping/sharing.ts',
    from: '        next = undefined;\n        return work();',
    to: '        return work();',
    without: 'one look answers all that ask later',
    killers: ofRoom,
  },
  {
    file: 'reconcile/cluster/observe/room-now.ts',
    from: 'return !isDeepStrictEqual(status?.history',
    to: 'return false && !isDeepStrictEqual(status?.history',
    without: 'one that has begun, and whose step is over by now, takes no room',
    killers: ['test/unit/pass/two-at-a-fleet.test.ts'],
  },
  {
    file: 'reconcile/cluster/observe/room-now.ts',
    from: "leftOut.has(one.cluster.metadata.namespace ?? '') ? [one] : []",
    to: '[]',
    without: 'a cluster that is left out for want of memory gives its room to another',
    killers: ofRoom,
  },
  {
    file: 'functions/checks/foresee.ts',
    from: "apply.kind !== 'adopt' && apply.kind !== 'takeOver'",
    to: 'true',
    without: 'a shard foresees a takeover as if the cluster had no status, and no field an owner',
    killers: ['test/integration/fleet/checks-at-once.test.ts'],
  },
  {
    file: 'functions/pass/chosen.ts',
    from: '&& isIn(shard, uid)',
    to: '',
    without: 'each shard reads every repository, and tells every forge',
    killers: ofPasses,
  },
  {
    file: 'functions/pass/shard.ts',
    from: '!silent.has(one))',
    to: 'true)',
    without: 'what ended one shard for want of memory ends the others as well',
    killers: ofJobs,
  },
  {
    file: 'reconcile/stepping/step-kind.ts',
    from: 'kind.stepsNone && isIn(context.shard, wholeUnit)',
    to: 'kind.stepsNone',
    without: 'shards that see no node policy take the marks off nodes that reboot',
    killers: ofPasses,
  },
  {
    file: 'reconcile/stepping/loop.ts',
    from: 'isBegun(object) && ownOf(',
    to: 'isBegun(object) || ownOf(',
    without: "a follow-up's timers begin anew whenever a cluster of another shard moves",
    killers: ofPasses,
  },
  {
    file: 'functions/pass/follow-up/follow-up.ts',
    from: '!shard && of !== undefined',
    to: 'false',
    without: 'what a webhook begins is followed up by one process for everything',
    killers: ofJobs,
  },
  {
    file: 'functions/pass/shard.ts',
    from: 'completed.every((one)',
    to: 'completed.some((one)',
    without: 'one pass that a shard missed, as by an eviction, doubles the work of the others',
    killers: ofJobs,
  },
  {
    file: 'functions/pass/shard.ts',
    from: 'isOver(one) || age(one) > passMs)',
    to: 'true)',
    without: 'passes that have just begun count as missed',
    killers: ofJobs,
  },
  {
    file: 'functions/pass/follow-up/chain.ts',
    from: '{ [shardLabel]: nameOf(shard) }',
    to: '{ [shardLabel]: String(shard.index) }',
    without: 'the follow-up of a shard is not found again, and each pass makes another',
    killers: ofJobs,
  },
  {
    file: 'functions/pass/follow-up/chain.ts',
    from: 'shardsOf({ spec }) === undefined ? jobTemplate.spec : ofOnePod(jobTemplate.spec)',
    to: 'jobTemplate.spec',
    without: 'a follow-up of one shard is as many pods as a pass has shards',
    killers: ofJobs,
  },
];
