import type { Mutant } from '../mutant.ts';

const observe = 'reconcile/nodes/observe.ts';
const observing = 'test/unit/nodes/observe.test.ts';
const orphans = 'reconcile/nodes/orphans.ts';
const orphaned = 'test/unit/nodes/orphans.test.ts';
const looking = 'reconcile/nodes/looking.ts';
const looks = 'test/unit/nodes/looking.test.ts';
const jobs = 'reconcile/nodes/requests/jobs.ts';
const leaving = 'reconcile/nodes/requests/leaving.ts';
const objects = 'reconcile/nodes/requests/objects.ts';
const locks = 'test/unit/nodes/kured-lock.test.ts';
const passes = 'test/unit/nodes/pass.test.ts';
const report = 'reconcile/nodes/report.ts';
const reporting = 'test/unit/nodes/report.test.ts';
const simulate = 'reconcile/nodes/simulate.ts';
const planning = 'test/unit/nodes/foresee.test.ts';
const asking = 'test/unit/nodes/requests.test.ts';

/** What a step for nodes reads, what its requests do by themselves, and what no policy has begun with. */
export const ofNodesSeen: readonly Mutant[] = [
  {
    file: observe,
    from: '(!policy.spec.suspend && grants.length < roomOf(policy.spec, selected.length))',
    to: 'true',
    without: 'each step reads the pods of all nodes that wait, though none may begin',
    killers: [observing],
  },
  {
    file: observe,
    from: 'granted !== undefined && inProgress !== undefined && inProgress.word',
    to: 'inProgress !== undefined && inProgress.word',
    without: 'a stranger that claims a reboot keeps a node from being looked at: it counts as empty',
    killers: [observing],
  },
  {
    file: observe,
    from: 'one.metadata.name < policy.metadata.name && selects(one, node)',
    to: 'one.metadata.name < policy.metadata.name',
    without: 'a policy keeps nodes from their reboot that it is not about',
    killers: [observing],
  },
  {
    file: observe,
    from: 'const seenGrants = grants.filter(({ node }) => looking.has(node));',
    to: 'const seenGrants = grants;',
    without: 'while a node is down its clusters are asked at each look',
    killers: [observing],
  },
  {
    file: observe,
    from: '!context.dryRun && mayBegin && waiting.length > 0',
    to: 'mayBegin && waiting.length > 0',
    without: "a stranger's change request has its Prometheus asked",
    killers: [observing],
  },
  {
    file: observe,
    from: 'wanted.has(keyOf(cluster)) && !context.unasked?.has(keyOf(cluster))',
    to: 'wanted.has(keyOf(cluster))',
    without: 'a cluster is asked that an invocation died of',
    killers: [observing],
  },
  {
    file: jobs,
    from: "      if (isReason(error, 'AlreadyExists')) return undefined;\n",
    to: '      if (error) return undefined;\n',
    without: 'any failure to make a Job is taken for one that is there',
    killers: [asking],
  },
  {
    file: jobs,
    from: 'job && job.metadata.deletionTimestamp === undefined ? jobSeen(job) : undefined',
    to: 'job && jobSeen(job)',
    without: 'an order names a Job that is being deleted',
    killers: [asking],
  },
  {
    file: jobs,
    from: 'if (found && found.uid !== uid) throw',
    to: 'if (found === undefined) throw',
    without: 'a plan deletes a Job that is another one by now',
    killers: [asking],
  },
  {
    file: leaving,
    from: '    if (!host.isCurrent(key)) throw writtenSince(key);\n',
    to: '',
    without: 'the search holds a cluster that a step has written to since (I7)',
    killers: [asking],
  },
  {
    file: leaving,
    from: 'if (cluster) await giveBack(cluster, { kube, holder, signal });',
    to: 'if (cluster) held.delete(key);',
    without: 'a cluster whose member has left is held until its deadline',
    killers: [asking],
  },
  {
    file: leaving,
    from: "if (error.causes.includes('DisruptionBudget')) return true;",
    to: 'if (error.status === 429) return true;',
    without: 'an API server that has too much to do is told as a disruption budget',
    killers: [asking],
  },
  {
    file: objects,
    from: '    const node = observed.nodes.get(name);\n    if (!node) throw',
    to: '    const node = observed.nodes.get(name);\n    if (!node) return undefined;\n    if (!node) throw',
    without: 'a node that is gone counts as cordoned',
    killers: [asking],
  },
  {
    file: orphans,
    from: 'ids.has(granted.word) || ',
    to: '',
    without: 'the marks of a reboot that is under way are taken away',
    killers: [orphaned],
  },
  {
    file: orphans,
    from: '(age < patience && age > -clockSkew)',
    to: 'age < patience',
    without: 'a mark from the future is a reboot that nobody goes on with, for ever',
    killers: [orphaned],
  },
  {
    file: orphans,
    from: 'return !isGoingDown || ',
    to: 'return ',
    without: 'a node whose policy is gone is told nothing once it has booted',
    killers: [orphaned],
  },
  {
    file: orphans,
    from: 'inProgress !== undefined && inProgress.word === node.status?.nodeInfo?.bootID',
    to: 'false',
    without: 'the marks of a node that goes down are taken away while it does',
    killers: [orphaned],
  },
  {
    file: looking,
    from: '!sentinel || suspend || context.dryRun || policy.metadata.deletionTimestamp !== undefined',
    to: '!sentinel || suspend || policy.metadata.deletionTimestamp !== undefined',
    without: 'a plan makes Jobs on nodes',
    killers: [looks],
  },
  {
    file: looking,
    from: "underWay: isMore || open.includes('open')",
    to: "underWay: open.includes('open')",
    without: 'of many nodes whose looks are due only the first are looked at before the next tick',
    killers: [looks],
  },
  {
    file: looking,
    from: "return answer === 'stale' ? 'open' : 'answered';",
    to: "return 'answered';",
    without: 'nobody waits for the look that takes the place of an old one',
    killers: [looks],
  },
  {
    file: 'reconcile/nodes/outside.ts',
    from: '  if (!isRecord(lock)) return unreadable;\n',
    to: '',
    without: 'a lock of kured that holds nothing ends the pass of all policies',
    killers: [locks],
  },
  {
    file: 'reconcile/nodes/outside.ts',
    from: "typeof nanoseconds === 'number' && nanoseconds > 0",
    to: 'Number(nanoseconds) > 0',
    without: 'a lock of kured whose end can not be read is over',
    killers: [locks],
  },
  {
    file: 'reconcile/nodes/observe-outside.ts',
    from: '    if (!(error instanceof KubeError)) throw error;\n',
    to: '',
    without: 'a defect of ours is told as a lock that can not be read',
    killers: ['test/unit/nodes/outside.test.ts'],
  },
  {
    file: 'reconcile/nodes/kind.ts',
    from: 'return results.filter(hasWork).map((result)',
    to: 'return results.map((result)',
    without: 'a pass waits for policies that have nothing to do',
    killers: [passes],
  },
  {
    file: 'reconcile/nodes/pass.ts',
    from: '    if (!dryRun) await release(',
    to: '    await release(',
    without: 'a plan takes marks from nodes',
    killers: [passes],
  },
  {
    file: 'reconcile/nodes/pass.ts',
    from: 'return found ? { ...found, spec } : {',
    to: 'return spec === undefined ? { ...rest, metadata, spec } : {',
    without: 'a plan of a change forgets which nodes have begun',
    killers: [passes],
  },
  {
    file: report,
    from: 'over?.completed ? 1 : 0',
    to: 'over ? 1 : 0',
    without: 'a reboot that was put off counts as done',
    killers: [reporting],
  },
  {
    file: report,
    from: "outcome.kind === 'acted' ? withOneLess(before?.grants ?? [], decision, at)",
    to: 'decision ? withOneLess(before?.grants ?? [], decision, at)',
    without: 'a member that stayed is told as one that has left',
    killers: [reporting],
  },
  {
    file: report,
    from: "stuck !== undefined || reason === 'InvalidWindow'",
    to: "reason === 'InvalidWindow'",
    without: 'a policy with a node that does not come back is Ready',
    killers: [reporting],
  },
  {
    file: simulate,
    from: 'marks.returned && !stuck.has(name) && (',
    to: 'marks.returned && (',
    without: 'a plan goes on as if a cluster got whole that does not',
    killers: [planning],
  },
  {
    file: simulate,
    from: 'keys.has(key) && one.node === undefined',
    to: 'one.node === undefined',
    without: 'a plan brings back members of any cluster with the node',
    killers: [planning],
  },
  {
    file: 'reconcile/nodes/sim-host.ts',
    from: '(cluster.key === key ? without(cluster, name) : cluster)',
    to: '(cluster.key === key ? cluster : cluster)',
    without: 'of a plan members serve that have left their node',
    killers: [planning],
  },
];
