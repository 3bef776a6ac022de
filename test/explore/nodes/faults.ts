import { down, timePasses, withJob } from './happenings.ts';
import { staleAfter } from './invocation.ts';
import { bootOf } from './look.ts';
import {
  type Left,
  type ModelNode,
  type NodesEvent,
  type NodesFault,
  type NodesState,
  type NodesWorld,
  onCluster,
  onMember,
  onNode,
  settled,
} from './state.ts';

/** What goes wrong, and what people and strangers do: each as often as a scenario says. */

type Strike = (world: NodesWorld, hit: (what: string, after: NodesWorld) => void) => void;

const worldFaults = {
  uncordon: perNode((node) =>
    node.cordoned ? ['a person uncordons #', { ...node, cordoned: false, takenBack: true }] : undefined,
  ),
  // It is no person's wish any more that it takes pods.
  cordon: perNode(({ takenBack: _, ...node }) =>
    node.cordoned ? undefined : ['a person cordons #', { ...node, cordoned: true }],
  ),
  withdraw: perNode(({ needed, ...node }) =>
    needed === undefined ? undefined : ['a person takes the wish for # away', node],
  ),
  stranger: perNode((node) => [
    'a stranger writes marks on #',
    { ...node, marks: { ...node.marks, now: { word: 'stranger' }, returned: { word: bootOf(node) } } },
  ]),
  deaf: perNode(({ told, ...node }) => (told ? ['the host of # does not do what it was told', node] : undefined)),
  broken: perNode((node) =>
    node.up && !node.broken ? ['# will not come back from its next reboot', { ...node, broken: true }] : undefined,
  ),
  reset: (world, hit) => {
    for (const node of world.nodes) if (node.up) hit(`${node.name} crashes`, down(world, node, false));
  },
  crash: (world, hit) => {
    for (const { members } of world.clusters)
      for (const { name, pod } of members)
        if (pod === 'up')
          hit(`${name} crashes`, settled(onMember(world, name, (one) => ({ ...one, pod: 'starting' }))));
  },
  agent: (world, hit) => {
    for (const job of world.jobs)
      if (job.state === 'waits') hit(`the agent on ${job.node} dies`, withJob(world, job, 'failed'));
  },
} as const satisfies Partial<Record<NodesFault, Strike>>;

function perNode(change: (node: ModelNode) => readonly [string, ModelNode] | undefined): Strike {
  return (world, hit) => {
    for (const node of world.nodes) {
      const [what, after] = change(node) ?? [];
      if (what !== undefined && after)
        hit(
          what.replace('#', node.name),
          onNode(world, node.name, () => after),
        );
    }
  };
}

export function faults(state: NodesState, emit: (event: NodesEvent, after: NodesState) => void): void {
  for (const [kind, strike] of Object.entries(worldFaults) as [NodesFault, Strike][]) {
    const left = spent(state.left, kind);
    if (!left) continue;
    strike(state.world, (what, world) =>
      emit({ who: 'fault', what }, { ...state, left, world, acting: staleAfter(state, state.world, world) }),
    );
  }
  dying(state, emit);
  const time = spent(state.left, 'time');
  const later = time && timePasses(state.world);
  if (later) emit({ who: 'time', what: 'time passes' }, { ...state, left: time, world: later, acting: [] });
}

/** Before its next request: what it holds is held until its lease ends. */
function dying(state: NodesState, emit: (event: NodesEvent, after: NodesState) => void): void {
  const left = spent(state.left, 'death');
  if (!left) return;
  for (const [index, { holds }] of state.acting.entries()) {
    const acting = state.acting.toSpliced(index, 1);
    emit({ who: 'fault', what: 'the step dies' }, { ...state, left, acting, world: abandoned(state.world, holds) });
  }
}

function abandoned(world: NodesWorld, holds: readonly string[]): NodesWorld {
  return holds.reduce(
    (after, key) => onCluster(after, key, (one) => ({ ...one, lease: { by: 'nodes', dead: true } })),
    world,
  );
}

/** The faults that remain when this one has happened; `undefined`: it can't any more. */
export function spent(left: Left, kind: NodesFault): Left | undefined {
  const times = left.faults[kind] ?? 0;
  if (times === 0 || left.total === 0) return undefined;
  return { total: left.total - 1, faults: { ...left.faults, [kind]: times - 1 } };
}
