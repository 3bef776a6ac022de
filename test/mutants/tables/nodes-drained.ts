import type { Mutant } from '../mutant.ts';

const decides = 'reconcile/nodes/decide.ts';
const drain = 'reconcile/nodes/drain.ts';
const mayBegin = 'reconcile/nodes/may-begin.ts';
const clusterSeen = 'reconcile/nodes/cluster-seen.ts';
const deciding = 'test/unit/nodes/decide.test.ts';
const draining = 'test/unit/nodes/drain.test.ts';
const acting = 'test/unit/nodes/act.test.ts';
const wire = 'reconcile/nodes/agent/dbus-wire.ts';
const buses = 'test/unit/nodes/dbus.test.ts';
const etcd = 'reconcile/nodes/etcd.ts';
const sparing = 'test/unit/nodes/spare.test.ts';
const way = 'reconcile/nodes/way.ts';
const ways = 'test/unit/nodes/way.test.ts';
const step = 'reconcile/nodes/step.ts';
const stepping = 'test/unit/nodes/step.test.ts';
const pods = 'reconcile/nodes/pods.ts';
const seeingPods = 'test/unit/nodes/pods.test.ts';
const seeing = 'test/unit/nodes/cluster-seen.test.ts';

/** Which node has its turn, how it gets empty, and what ends its way. */
export const ofNodesDrained: readonly Mutant[] = [
  {
    file: decides,
    from: 'nodes.filter(({ selected }) => selected).length',
    to: 'nodes.length',
    without: 'a node that the policy does not select any more is counted as one of its own',
    killers: [deciding],
  },
  {
    file: decides,
    from: 'if (!reason || !selected || needed !== undefined) return [];',
    to: 'if (!reason || !selected) return [];',
    without: 'a look that failed is told of a node that needs a reboot anyway',
    killers: [deciding],
  },
  {
    file: decides,
    from: '.toSorted((a, b) => turn(a) - turn(b))[0]',
    to: '[0]',
    without: 'what makes room comes after what takes it',
    killers: [deciding],
  },
  {
    file: decides,
    from: "(reason === 'EvictionRefused' ? [node] : [])",
    to: '(reason === undefined ? [node] : [])',
    without: 'a node whose pods a budget keeps holds up the drain of all others',
    killers: [deciding],
  },
  {
    file: decides,
    from: 'selected && needed !== undefined && !begun.has(name)',
    to: 'needed !== undefined && !begun.has(name)',
    without: 'a node that the policy does not select begins',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: 'policy.metadata.deletionTimestamp !== undefined || ',
    to: '',
    without: 'a node begins for a policy that is being deleted, and nothing ends its way',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: '  if (node.marks.granted) {',
    to: '  if (node.marks.granted && node.selected === undefined) {',
    without: 'a node begins beside the marks of a reboot that nobody goes on with',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: "putOff?.word === 'PolicyGone' && node.unschedulable",
    to: 'putOff && node.unschedulable',
    without: 'a node that a person keeps cordoned never reboots once it was put off',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: "putOff?.word === 'CalledOff' || putOff?.word === 'PolicyGone'",
    to: "putOff?.word === 'PolicyGone'",
    without: 'a new wish waits because an earlier one was taken away',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: 'seen.nodes.filter((one) => one.selected).length',
    to: 'seen.nodes.length',
    without: 'nodes that are none of the policy make room for another one of a percentage',
    killers: [deciding],
  },
  {
    file: mayBegin,
    from: 'putOff && until && at < until',
    to: 'putOff && until',
    without: 'a node that was put off never has another turn',
    killers: [deciding],
  },
  {
    file: drain,
    from: 'if (late && !node.ready && leaving.length > 0 && leaving.every((one) => one.leaving))',
    to: 'if (late && !node.ready && leaving.length > 0)',
    without: 'a node whose pods were not even told to leave is stuck, and no other node begins',
    killers: [draining],
  },
  {
    file: drain,
    from: 'late && !node.ready && leaving.length > 0 && leaving.every(',
    to: 'late && !node.ready && leaving.every(',
    without: 'an empty node that is not Ready is stuck, and no other node begins',
    killers: [draining],
  },
  {
    file: drain,
    from: 'if (late && (objection || leaving.length > 0))',
    to: 'if (late && leaving.length > 0)',
    without: 'an empty node whose cluster never gets ready stays cordoned for ever',
    killers: [draining],
  },
  {
    file: drain,
    from: "one.blocks && !one.leaving && one.kind !== 'stays' && one.kind !== 'member'",
    to: 'one.blocks && !one.leaving',
    without: 'a pod that never leaves its node holds the drain for ever, because spec.blockedBy names it',
    killers: [draining],
  },
  {
    file: drain,
    from: '(isThere ? withoutNode(cluster, node.name) : whileAway(cluster, node.name))',
    to: 'whileAway(cluster, node.name)',
    without: 'a member leaves while another one joins, or while no quorum answers (I1)',
    killers: [draining],
  },
  {
    file: 'reconcile/nodes/evict.ts',
    from: '(keys.has(key) ? [key] : [])',
    to: '[key]',
    without: 'clusters whose members stay are held as well',
    killers: [acting],
  },
  {
    file: 'reconcile/nodes/evict.ts',
    from: '  for (const { failure } of ends) if (failure) throw failure;\n',
    to: '',
    without: 'an eviction that the API server forbids is told as done',
    killers: [acting],
  },
  {
    file: 'reconcile/nodes/hold.ts',
    from: '    if (!(error instanceof KubeError)) throw error;\n',
    to: '',
    without: 'a defect is taken for an API server that does not answer',
    killers: [acting],
  },
  {
    file: 'reconcile/nodes/act.ts',
    from: '  if (found) yield* deleteJob({ id, uid: found.uid });\n',
    to: '',
    without: 'the Job of a reboot that was put off stays, and may carry out an order yet',
    killers: [acting],
  },
  {
    file: clusterSeen,
    from: " || (kind === 'refuse' && decision.waited)",
    to: '',
    without: 'a node goes down while its cluster still waits for what has taken long (I1)',
    killers: [seeing],
  },
  {
    file: clusterSeen,
    from: "return kind === 'act' ? { kind, why } : undefined;",
    to: 'return undefined;',
    without: 'a node goes down where the next step of its cluster would act (I1)',
    killers: [seeing],
  },
  {
    file: clusterSeen,
    from: "slot.endpoint.kind === 'known' ? slot.endpoint.status.raftAppliedIndex : 0n",
    to: '0n',
    without: 'leadership goes to the member that comes first, however far it lags',
    killers: [seeing],
  },
  {
    file: 'reconcile/nodes/agent/dbus.ts',
    from: "    if (buffer.length > longest) socket.destroy(new Error('the system bus says more than it should'));\n",
    to: '',
    without: 'a bus that talks without end fills the memory of the agent',
    killers: [buses],
  },
  {
    file: wire,
    from: 'uint32(flag ? 1 : 0)',
    to: 'uint32(flag !== undefined ? 1 : 0)',
    without: 'logind asks a person whether the host may reboot, and nobody is there',
    killers: [buses],
  },
  {
    file: wire,
    from: "    } else if (type === 'g') {\n      at += bytes.readUInt8(at) + 2;\n",
    to: '',
    without: 'the refusal of a bus is an error of ours, where it says what its words are made of',
    killers: [buses],
  },
  {
    file: wire,
    from: '      if (code === field.error) error = found.text;\n',
    to: '',
    without: 'why a bus refuses the reboot is not told',
    killers: [buses],
  },
  {
    file: etcd,
    from: "busy.kind === 'wait' && here.some(({ serves }) => !serves)",
    to: 'here.some(({ serves }) => !serves)',
    without: 'a node goes down in the middle of a step of its cluster, because its own member ails (I7)',
    killers: [sparing],
  },
  {
    file: etcd,
    from: 'membersOn(cluster, node).filter(({ voter }) => voter).length',
    to: 'membersOn(cluster, node).length',
    without: 'a pod that is no voter stands for a voter that runs nowhere (I1)',
    killers: [sparing],
  },
  {
    file: etcd,
    from: '(member) => member.voter && member.serves)',
    to: '(member) => member.serves)',
    without: 'an empty node goes down while a voter is down, because a learner serves (I1)',
    killers: [sparing],
  },
  {
    file: etcd,
    from: 'member.node !== node && member.voter',
    to: 'member.node !== node',
    without: 'a pod that is no member keeps nodes from their reboot',
    killers: [sparing],
  },
  {
    file: etcd,
    from: 'voter && !serves',
    to: '!serves',
    without: 'a pod that is no member keeps a reboot from its end',
    killers: [sparing],
  },
  {
    file: etcd,
    from: 'const seen = members.filter(({ voter }) => voter).length;',
    to: 'const seen = members.length;',
    without: 'the next node begins while a voter of the list runs nowhere (I1)',
    killers: [sparing],
  },
  {
    file: etcd,
    from: 'one.voter && one.serves && one.memberId !== undefined',
    to: 'one.memberId !== undefined',
    without: 'leadership is handed to a member that is down, or to a learner',
    killers: [sparing],
  },
  {
    file: way,
    from: '!isMarked && marks.putOff && marks.putOff.at >= new Date(grant.at)',
    to: '!isMarked && marks.putOff',
    without: 'a node that was once put off never gets further than its grant',
    killers: [ways],
  },
  {
    file: way,
    from: 'if (isMarked && isAnotherBoot) return comeBack(seen);',
    to: 'if (isAnotherBoot) return comeBack(seen);',
    without: 'a crash before the node was marked is taken for its reboot',
    killers: [ways],
  },
  {
    file: way,
    from: 'if (isMarked && marks.inProgress?.word === grant.bootID)',
    to: 'if (marks.inProgress?.word === grant.bootID)',
    without: 'a node waits for a reboot that a stranger claims',
    killers: [ways],
  },
  {
    file: way,
    from: '!isMarked || !marks.cordoned || !node.unschedulable',
    to: '!isMarked || !node.unschedulable',
    without: 'a node whose drain has no beginning is drained without end',
    killers: [ways],
  },
  {
    file: way,
    from: 'return word === grant.id && grant.ordered !== undefined;',
    to: 'return grant.ordered !== undefined;',
    without: 'of method External what a stranger wrote counts as the order',
    killers: [ways],
  },
  {
    file: way,
    from: "methodOf(all.policy.spec) !== 'External' || ordered === undefined || node.marks.now",
    to: 'ordered === undefined || node.marks.now',
    without: 'a node waits for a host that a former method told',
    killers: [ways],
  },
  {
    file: way,
    from: 'node.job !== undefined && node.job.uid === order.word && ',
    to: 'node.job !== undefined && ',
    without: 'the Job of a former method ends an order that is another',
    killers: [ways],
  },
  {
    file: step,
    from: 'before.node === node && before.reason === reason',
    to: 'before.reason === reason',
    without: 'of two nodes that are stuck for the same reason one is told',
    killers: [stepping],
  },
  {
    file: step,
    from: '(isDeed(one) || isStuck(one.reason))',
    to: 'isDeed(one)',
    without: 'that a node does not come back is no event',
    killers: [stepping],
  },
  {
    file: step,
    from: 'isStuck(reason) || warnings.has(reason)',
    to: 'isStuck(reason)',
    without: 'a Job that the API server refuses is no warning',
    killers: [stepping],
  },
  {
    file: step,
    from: "outcome.kind === 'failed' || (outcome.kind === 'acted' && outcome.kept.length > 0)",
    to: 'outcome.kind === undefined',
    without: 'what is refused, or what a disruption budget keeps, is tried again without a pause',
    killers: [stepping],
  },
  {
    file: step,
    from: 'action !== undefined || waits.length > 0',
    to: 'action !== undefined',
    without: 'nobody waits for a node that goes down',
    killers: [stepping],
  },
  {
    file: pods,
    from: 'namespace === metadata.namespace && name === found[labels.cluster]',
    to: 'namespace === metadata.namespace',
    without: 'a pod of a cluster that is gone keeps its node from the reboot',
    killers: [seeingPods],
  },
  {
    file: pods,
    from: "controller && kind === 'Job'",
    to: "kind === 'Job'",
    without: 'a pod that only refers to a Job blocks its node',
    killers: [seeingPods],
  },
  {
    file: pods,
    from: "isOver(job) ? 'failed' : 'under-way'",
    to: "'under-way'",
    without: 'a Job that failed is waited for until the time of the reboot is over',
    killers: [seeingPods],
  },
];
