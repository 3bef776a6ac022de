import { orderIn, takenOrder } from '../../../reconcile/nodes/agent/order.ts';
import { changedMarks } from '../../../reconcile/nodes/marks.ts';
import { clusterSteps } from './clusters.ts';
import { bootOf, jobUid, marksIn, nodeSeen, now } from './look.ts';
import {
  type ModelJob,
  type ModelMember,
  type ModelNode,
  type NodesEvent,
  type NodesWorld,
  onMember,
  onNode,
  settled,
} from './state.ts';

/** What happens by itself: kubelets, controllers, the clusters' own steps, the agents in their Jobs, and the hosts. */

type Emit = (event: NodesEvent, after: NodesWorld) => unknown;

export function happenings(world: NodesWorld, emit: Emit): void {
  for (const node of world.nodes) ofNode(world, node, emit);
  for (const { members } of world.clusters) for (const member of members) ofMember(world, member, emit);
  for (const [index, pod] of world.pods.entries()) ofPod(world, index, pod, emit);
  for (const job of world.jobs) ofJob(world, job, emit);
  clusterSteps(world, emit);
}

function ofNode(world: NodesWorld, node: ModelNode, emit: Emit): void {
  const { name } = node;
  if (node.told && node.up)
    emit({ who: 'world', what: `${name} goes down, as its host was told`, downs: name }, down(world, node, true));
  if (!node.up && !node.broken)
    emit(
      { who: 'world', what: `${name} comes back` },
      settled(onNode(world, name, (one) => ({ ...one, up: true, boot: one.boot + 1 }))),
    );
}

/** Without grace: what ran there is dead, and starts anew with the node. */
export function down(world: NodesWorld, { name }: ModelNode, byUs: boolean): NodesWorld {
  const off = onNode(world, name, ({ told: _, ...one }) => ({ ...one, up: false }));
  const clusters = off.clusters.map((cluster) => ({
    ...cluster,
    members: cluster.members.map((member): ModelMember => {
      if (member.node !== name || member.pod !== 'up') return member;
      return { ...member, pod: 'starting', ...(byUs && { away: true }) };
    }),
  }));
  return settled({ ...off, clusters });
}

function ofMember(world: NodesWorld, { name, node, pod, turn }: ModelMember, emit: Emit): void {
  const home = world.nodes.find((one) => one.name === node);
  if (!home?.up) return;
  if (pod === 'leaving') emit({ who: 'world', what: `the pod of ${name} ends` }, after({ pod: 'none' }));
  if (pod === 'none' && !home.cordoned)
    emit({ who: 'world', what: `${name} gets a pod` }, after({ pod: 'starting', turn: (turn + 1) % 3 }));
  if (pod === 'starting') emit({ who: 'world', what: `${name} serves` }, after({ pod: 'up' }));

  function after(change: Partial<ModelMember>): NodesWorld {
    return settled(
      onMember(world, name, ({ old, ...one }) => ({
        ...one,
        ...change,
        ...(old && change.pod !== 'starting' && { old }),
      })),
    );
  }
}

function ofPod(world: NodesWorld, index: number, pod: NodesWorld['pods'][number], emit: Emit): void {
  const { name, node, leaving, turn } = pod;
  const set = (next: NodesWorld['pods'][number]) => ({ ...world, pods: world.pods.with(index, next) });
  const { node: _, leaving: __, ...rest } = pod;
  if (leaving && world.nodes.some((one) => one.name === node && one.up))
    emit({ who: 'world', what: `pod ${name} ends` }, set(rest));
  if (node !== undefined) return;
  const free = world.nodes.find((one) => one.up && !one.cordoned);
  if (free)
    emit(
      { who: 'world', what: `pod ${name} starts on ${free.name}` },
      set({ ...rest, node: free.name, turn: (turn + 1) % 3 }),
    );
}

/** Its pod runs once, on a node that is up. */
function ofJob(world: NodesWorld, job: ModelJob, emit: Emit): void {
  const node = world.nodes.find((one) => one.name === job.node);
  if (!node?.up || job.state !== 'waits') return;
  const asking = { job: jobUid(job), grant: { id: job.id, bootID: job.bootID } };
  const seen = nodeSeen(world, node);
  const order = orderIn(seen, asking);
  if (order.kind === 'not-yet') return;
  if (order.kind === 'none') {
    emit({ who: 'agent', what: `on ${node.name}: ${order.why}` }, withJob(world, job, 'done'));
    return;
  }
  const marks = marksIn(changedMarks(seen.marks, takenOrder(bootOf(node)), now));
  const taken = onNode(world, node.name, (one) => ({ ...one, marks, told: true }));
  emit(
    { who: 'agent', what: `takes the order of ${node.name} up`, takes: { node: node.name, id: job.id } },
    withJob(taken, job, 'done'),
  );
}

export function withJob(world: NodesWorld, job: ModelJob, state: ModelJob['state']): NodesWorld {
  return { ...world, jobs: world.jobs.map((one) => (one === job ? { ...one, state } : one)) };
}

/** All that was fresh is old; who acts, and what was begun for too long, is out of time. */
export function timePasses(world: NodesWorld): NodesWorld | undefined {
  const old = '2026-01-01T03:04:05Z';
  const nodes = world.nodes.map((node) => {
    if (!Object.values(node.marks).some((mark) => !mark.old)) return node;
    const marks = Object.entries(node.marks).map(([key, { word }]) => [key, { word, old: true }]);
    return { ...node, marks: Object.fromEntries(marks) as ModelNode['marks'] };
  });
  const jobs = world.jobs.map((job) => (job.state === 'waits' ? { ...job, state: 'failed' as const } : job));
  const grants = world.policy.grants.map((grant) => (grant.at === old ? grant : { ...grant, at: old }));
  const isSame =
    nodes.every((node, index) => node === world.nodes[index]) &&
    jobs.every((job, index) => job === world.jobs[index]) &&
    grants.every((grant, index) => grant === world.policy.grants[index]);
  if (isSame) return undefined;
  const clusters = world.clusters.map(({ lease, ...cluster }) => cluster);
  return { ...world, nodes, jobs, clusters, policy: { ...world.policy, grants } };
}
