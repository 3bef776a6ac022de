import { begun, type Position, type Program, type Standing } from '../../../reconcile/cluster/act/requests/program.ts';
import { StepError } from '../../../reconcile/cluster/know/outcome.ts';
import { actOnNode, type NodeDeed } from '../../../reconcile/nodes/act.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type { NodesDecision } from '../../../reconcile/nodes/decision.ts';
import type { NodesObservation } from '../../../reconcile/nodes/observation.ts';
import { type NodeOutcome, nodePolicyStatus } from '../../../reconcile/nodes/report.ts';
import { nodeBehaviourOf } from '../../../reconcile/nodes/requests/all.ts';
import { type Nature, worldHost } from './host.ts';
import { look, policyIn } from './look.ts';
import type { Acting, NodesEvent, NodesState, NodesWorld } from './state.ts';

/** What is searched: the real rules, and the real lines. A seeded bug is another one of these. */
export interface NodesCode extends Nature {
  readonly decide: (seen: NodesObservation) => NodesDecision;
  readonly run: typeof actOnNode;
  /** A write is refused when its object has been written to since it was looked at. */
  readonly fencesWrites: boolean;
}

export const realNodesCode: NodesCode = {
  decide: decideNodes,
  run: actOnNode,
  fencesWrites: true,
  letsAnyGo: false,
};

export interface Advanced {
  readonly event: NodesEvent;
  readonly world: NodesWorld;
  /** `undefined`: it is over. */
  readonly acting?: Acting;
  /** What it wrote, as others find it: stale. */
  readonly wrote?: string;
}

/** How one invocation goes on, from what it saw and was answered. */
export function createInvocations(code: NodesCode, decide: (world: NodesWorld) => NodesDecision) {
  const host = worldHost(code);
  return { standingOf, advance, report };

  /** The deed of a program that has come to its end is what it returned. */
  function standingOf({ saw, answers }: Acting): { readonly position: Position; readonly deed?: NodeDeed } {
    const { action } = decide(saw);
    if (!action) return { position: { kind: 'done' }, deed: { policy: policyIn(saw), kept: [] } };
    let deed: NodeDeed | undefined;
    const program = noting(code.run(action, look(saw)), (found) => {
      deed = found;
    });
    const standing = answers.reduce<Standing>((one, answered) => one.after(answered), begun(program));
    return { position: standing.position, ...(deed && { deed }) };
  }

  function advance(world: NodesWorld, acting: Acting): Advanced {
    const { position, deed } = standingOf(acting);
    if (position.kind === 'ended') {
      const { failure } = position;
      if (failure.class === 'precondition') return over(world, `is too late: ${failure.message}`);
      return report(world, acting, { kind: 'failed', message: '', refused: false });
    }
    if (position.kind === 'done') return report(world, acting, { kind: 'acted', kept: deed?.kept ?? [] }, deed);
    const { request } = position;
    const behaviour = nodeBehaviourOf(request);
    const write = behaviour.writes?.(request.ask);
    const what = behaviour.words(request.ask);
    const isLate = code.fencesWrites && write?.fence === 'version' && acting.stale.includes(write.object);
    try {
      if (isLate)
        throw new StepError({ class: 'precondition', reason: 'WorldMoved', message: `${write.object} was written to` });
      const done = behaviour.model(world, request.ask, host);
      const holds = done.state === world ? acting.holds : heldAfter(acting.holds, world, done.state);
      const next = { ...acting, holds, answers: [...acting.answers, { answer: done.answer }] };
      const evicts = request.kind === 'evictPod' && done.state !== world ? what : undefined;
      const event: NodesEvent = { who: 'step', what, ...(evicts !== undefined && { evicts }) };
      // To die, or to be disturbed, between a look at a Job and what rests on it is no other story.
      if (!write && request.kind === 'readJob') return advance(done.state, next);
      return { event, world: done.state, acting: next, ...(write && done.state !== world && { wrote: write.object }) };
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      const next = { ...acting, answers: [...acting.answers, { refused: error.failure }] };
      return { event: { who: 'step', what: `${what}: refused: ${error.message}` }, world, acting: next };
    }
  }

  /** With a PUT of the status as it was read, or as it was written by this very step. */
  function report(world: NodesWorld, { saw, stale }: Acting, outcome: NodeOutcome, deed?: NodeDeed): Advanced {
    const seen = look(saw);
    const { action } = decide(saw);
    const { grants = [], blocked = [] } = nodePolicyStatus(seen, decide(saw), outcome, deed?.policy);
    const what = `reports${action ? ` (${action.kind} of ${action.node})` : ''}`;
    const kept = blocked.flatMap(({ node, reason }) => (reason === 'EvictionRefused' ? [node] : []));
    const before = world.policy;
    const isSame = sameText(before.kept, kept) && sameText(before.grants, grants);
    if (isSame) return { event: { who: 'step', what }, world };
    if (code.fencesWrites && stale.includes('policy')) return over(world, `${what}: refused`);
    return { event: { who: 'step', what }, world: { ...world, policy: { ...before, grants, kept } }, wrote: 'policy' };
  }

  function over(world: NodesWorld, what: string): Advanced {
    return { event: { who: 'step', what }, world };
  }
}

/** What it took, or gave back, with this request. */
function heldAfter(holds: readonly string[], before: NodesWorld, { clusters }: NodesWorld): readonly string[] {
  return clusters.flatMap(({ key, lease }, index) => {
    const isTaken = lease?.by === 'nodes' && before.clusters[index]?.lease === undefined;
    return isTaken || (lease?.by === 'nodes' && holds.includes(key)) ? [key] : [];
  });
}

function sameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function* noting<R>(program: Program<R>, note: (result: R) => void): Program<R> {
  const result = yield* program;
  note(result);
  return result;
}

/** What others that are at it do not know of the world any more, besides what they wrote themselves. */
export function staleAfter(
  state: NodesState,
  before: NodesWorld,
  after: NodesWorld,
  except?: number,
): readonly Acting[] {
  if (before === after || state.acting.length === 0) return state.acting;
  const moved = changedObjects(before, after);
  if (moved.length === 0) return state.acting;
  return state.acting.map((one, index) => {
    if (index === except) return one;
    const stale = [...new Set([...one.stale, ...moved])].toSorted();
    return stale.length === one.stale.length ? one : { ...one, stale };
  });
}

/** Objects of the API that were written to. */
function changedObjects(before: NodesWorld, after: NodesWorld): readonly string[] {
  const nodes = after.nodes.flatMap((node, index) => (node === before.nodes[index] ? [] : [node.name]));
  const clusters = after.clusters.flatMap(({ key, lease, wanted }, index) => {
    const was = before.clusters[index];
    return was && was.lease === lease && was.wanted === wanted ? [] : [key];
  });
  return [...nodes, ...clusters, ...(before.policy === after.policy ? [] : ['policy'])];
}
