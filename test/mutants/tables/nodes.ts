import type { Mutant } from '../mutant.ts';

const mayBegin = 'reconcile/nodes/may-begin.ts';
const etcd = 'reconcile/nodes/etcd.ts';
const way = 'reconcile/nodes/way.ts';
const drain = 'reconcile/nodes/drain.ts';
const acts = 'reconcile/nodes/act.ts';
const agent = 'reconcile/nodes/agent/agent.ts';
const orders = 'reconcile/nodes/agent/order.ts';
const decides = 'test/unit/nodes/decide.test.ts';
const ways = 'test/unit/nodes/way.test.ts';
const stories = 'test/unit/nodes/stories.test.ts';
const agents = 'test/unit/nodes/agent.test.ts';

/** What keeps a reboot from costing a quorum, and a stranger from causing one. */
export const ofNodes: readonly Mutant[] = [
  {
    file: etcd,
    from: 'if (here.length < 2) return undefined;',
    to: 'if (here.length < 9) return undefined;',
    without: 'a node with two members of one cluster is rebooted (I1)',
    killers: [decides],
  },
  {
    file: etcd,
    from: 'const down = others.find(({ serves }) => !serves);',
    to: 'const down = others.find(({ serves }) => serves === undefined);',
    without: 'a node is rebooted while another member is down (I1)',
    killers: [decides],
  },
  {
    file: etcd,
    from: 'if (others.length + here < voters)',
    to: 'if (voters < 0)',
    without: 'a voter that runs nowhere is not missed (I1)',
    killers: [decides],
  },
  {
    file: etcd,
    from: 'if (others.length < quorumOf(voters) && !mayLoseQuorum) {',
    to: 'if (others.length < 0 && !mayLoseQuorum) {',
    without: 'a cluster of one or two loses its quorum without being asked (I1)',
    killers: [decides],
  },
  {
    file: mayBegin,
    from: "if (alerts.kind === 'unreadable') {",
    to: "if (alerts.kind === 'unreadable' && name === '') {",
    without: 'a Prometheus that does not answer is taken for one without alerts',
    killers: [decides, 'test/unit/nodes/breaking.test.ts'],
  },
  {
    file: mayBegin,
    from: 'if (elsewhere) {',
    to: 'if (elsewhere && name === undefined) {',
    without: 'nodes of two groups are away at once',
    killers: [decides],
  },
  {
    file: mayBegin,
    from: "if (putOff?.word === 'PolicyGone' && node.unschedulable) {",
    to: "if (putOff?.word === 'PolicyGone' && name === undefined) {",
    without:
      'a node that a deleted policy had cordoned is taken for one that a person cordoned, and its member never returns',
    killers: ['test/unit/nodes/breaking.test.ts'],
  },
  {
    file: 'reconcile/nodes/looks.ts',
    from: "if (looked && made <= looked.at) return 'stale';",
    to: '',
    without: 'an answer from before the last look reboots a node a second time',
    killers: ['test/unit/nodes/looks.test.ts'],
  },
  {
    file: 'reconcile/nodes/agent/sentinel.ts',
    from: "return found.mtimeMs < booted ? 'old' : 'needed';",
    to: "return booted < 0 ? 'old' : 'needed';",
    without: 'a sentinel that no reboot takes away has a node rebooted for ever',
    killers: ['test/unit/nodes/looks.test.ts'],
  },
  {
    file: mayBegin,
    from: "if (isHeld) return { reason: 'NoRoom'",
    to: "if (isHeld && !node.ready) return { reason: 'NoRoom'",
    without: 'another node begins while one does not come back',
    killers: [ways, stories],
  },
  {
    file: mayBegin,
    from: 'if (away.length >= roomOf(',
    to: 'if (away.length > roomOf(',
    without: 'more nodes are away at once than the policy allows',
    killers: [decides],
  },
  {
    file: drain,
    from: '(isThere ? withoutNode(cluster, node.name) : whileAway(cluster, node.name));',
    to: 'undefined;',
    without: 'members leave although another one went down since the grant (I1)',
    killers: [ways],
  },
  {
    file: drain,
    from: 'twoThere(cluster, node.name) ?? ',
    to: '',
    without: 'a second member that came to a node since its grant leaves with the first one (I1)',
    killers: [ways],
  },
  {
    file: drain,
    from: 'const busy = busyNow(cluster, node.name);',
    to: 'const busy = undefined;',
    without: 'members leave while a step of their cluster is under way (I1)',
    killers: [ways],
  },
  {
    file: 'reconcile/nodes/evict.ts',
    from: 'clusters.flatMap(({ key }) => (keys.has(key) ? [key] : [])),',
    to: 'clusters.flatMap(({ key }) => (keys.has(key) ? [] : [])),',
    without: 'a member leaves although a step of its cluster began since (I1)',
    killers: [stories],
  },
  {
    file: way,
    from: 'if (isMarked && isAnotherBoot && marks.returned?.word === bootId)',
    to: 'if (isMarked && marks.returned)',
    without: 'a stranger that claims a return ends the way without a reboot',
    killers: [ways],
  },
  {
    file: way,
    from: 'if (first === undefined && node.ready)',
    to: 'if (node.ready)',
    without: 'the next node begins before the members of the last one are back (I1)',
    killers: [ways],
  },
  {
    file: acts,
    from: 'const granted = yield* recordGrant(action.grant, policy);',
    to: 'const granted = policy;',
    without: 'two invocations begin with two nodes',
    killers: [stories],
  },
  {
    file: 'reconcile/nodes/change-node.ts',
    from: "return granted?.word === id && cordon?.word === 'by-us';",
    to: 'return granted?.word === id;',
    without: 'a node that a person cordoned takes pods in the end',
    killers: [stories],
  },
  {
    file: orders,
    from: "if (now?.word !== job) return { kind: 'not-yet' };",
    to: "if (now?.word !== job) return { kind: 'none', why: 'there is no order yet' };",
    without: 'a Job that starts before its order is written costs the node a whole drain for nothing',
    killers: [agents],
  },
  {
    file: orders,
    from: "if (bootId === '' || bootId !== grant.bootID)",
    to: "if (bootId === '')",
    without: 'a node that crashed before its Job began is rebooted a second time',
    killers: [agents],
  },
  {
    file: orders,
    from: 'if (!unschedulable)',
    to: 'if (unschedulable === undefined)',
    without: 'a node that was uncordoned, and has a member again, is rebooted (I1)',
    killers: [agents],
  },
  {
    file: way,
    from: 'return word === grant.id && grant.ordered !== undefined;',
    to: 'return word === grant.id;',
    without: 'an annotation of a stranger reboots a node before its drain, by tooling of its own',
    killers: [ways],
  },
  {
    file: way,
    from: 'if (leaving.length > 0 || objection) {',
    to: 'if (leaving.length > 9) {',
    without: 'a node is rebooted although another member went down since the order (I1)',
    killers: [ways],
  },
  {
    file: orders,
    from: "if (now?.word !== job) return { kind: 'not-yet' };",
    to: '',
    without: 'an order that names another Job reboots the node',
    killers: [agents],
  },
  {
    file: agent,
    from: '  await kube.update<Node>(resources.nodes, { ...node, metadata: { ...node.metadata, annotations } }, { signal });\n',
    to: '',
    without: 'an agent that is started again reboots the node again',
    killers: [agents],
  },
  {
    file: mayBegin,
    from: 'if (other && !named.has(key)) {',
    to: 'if (other && named.has(key)) {',
    without: 'two nodes with members of one cluster are under way at once (I1)',
    killers: [decides],
  },
  {
    file: etcd,
    from: "one.memberId !== undefined && !leaving.has(one.node ?? ''),",
    to: 'one.memberId !== undefined && one.node !== node,',
    without: 'leadership goes to and fro between two nodes that are under way',
    killers: [decides],
  },
  {
    file: 'reconcile/nodes/evict.ts',
    from: 'yield* holdCluster({ key });',
    to: '',
    without: 'a member leaves while a step of its cluster is under way (I7)',
    killers: [{ search: 'reboots: one of three' }],
  },
  {
    file: 'reconcile/nodes/change-node.ts',
    from: 'granted: id, now: undefined, cordon: true };',
    to: 'granted: id, cordon: true };',
    without: 'an order from before a person uncordoned the node still stands',
    killers: [{ search: 'reboots: a person is at it' }, stories],
  },
  {
    file: orders,
    from: 'if (!unschedulable)',
    to: 'if (grant === undefined)',
    without: 'a node that a person took back is rebooted',
    killers: [{ search: 'reboots: a person is at it' }],
  },
  {
    file: 'reconcile/nodes/act.ts',
    from: 'if (found) yield* deleteJob({ id: grant.id, uid: found.uid });',
    to: '',
    without: 'a Job that ended without an order is found again for ever',
    killers: [{ search: 'reboots: hosts and agents fail' }, { search: 'reboots: one of three' }],
  },
];
