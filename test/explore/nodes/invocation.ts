import { actOnNode, type NodeDeed } from '../../../reconcile/nodes/act.ts';
import { decideNodes } from '../../../reconcile/nodes/decide.ts';
import type { NodesDecision } from '../../../reconcile/nodes/decision.ts';
import type { NodesObservation } from '../../../reconcile/nodes/observation.ts';
import { type NodeOutcome, nodePolicyStatus } from '../../../reconcile/nodes/report.ts';
import { nodeRequests } from '../../../reconcile/nodes/requests/all.ts';
import { wordsOf, writtenBy } from '../../../reconcile/requests/define.ts';
import { perform } from '../../../reconcile/requests/play.ts';
import type { Request } from '../../../reconcile/requests/program.ts';
import { type Position, standingAfter } from '../../../reconcile/requests/standing.ts';
import { type Nature, worldHost } from './host.ts';
import { look, policyIn } from './look.ts';
import type { Acting, NodesEvent, NodesState, NodesWorld } from './state.ts';

/** The code that is searched: the real rules, and the real lines. A seeded bug is another such code. */
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

  /** Done, it comes to what its program returned. */
  function standingOf({ saw, answers }: Acting): Position<NodeDeed> {
    const { action } = decide(saw);
    if (!action) return { kind: 'done', result: { policy: policyIn(saw), kept: [] } };
    return standingAfter(code.run(action, look(saw)), answers).position;
  }

  function advance(world: NodesWorld, acting: Acting): Advanced {
    const position = standingOf(acting);
    if (position.kind === 'ended') {
      const { failure } = position;
      if (failure.class === 'precondition') return over(world, `is too late: ${failure.message}`);
      return report(world, acting, { kind: 'failed', message: '', refused: false });
    }
    if (position.kind === 'done') {
      const { result } = position;
      return report(world, acting, { kind: 'acted', kept: result.kept }, result);
    }
    return sent(world, acting, position.request);
  }

  function sent(world: NodesWorld, acting: Acting, request: Request): Advanced {
    const what = wordsOf(request, nodeRequests);
    const isCurrent = (object: string) => !code.fencesWrites || !acting.stale.includes(object);
    const done = perform(request, nodeRequests, world, { ...host, isCurrent });
    if (done.kind === 'wait') return { event: { who: 'step', what: `${what}: waits` }, world, acting };
    if (done.kind === 'refused') {
      const next = { ...acting, answers: [...acting.answers, { refused: done.failure }] };
      return { event: { who: 'step', what: `${what}: refused: ${done.failure.message}` }, world, acting: next };
    }
    const isSame = done.state === world;
    const holds = isSame ? acting.holds : heldAfter(acting.holds, world, done.state);
    const next = { ...acting, holds, answers: [...acting.answers, { answer: done.answer }] };
    // To die, or to be disturbed, between a look at a Job and what rests on it is no other story.
    if (request.kind === 'readJob') return advance(done.state, next);
    const event: NodesEvent = { who: 'step', what, ...(request.kind === 'evictPod' && !isSame && { evicts: what }) };
    const write = writtenBy(request, nodeRequests);
    return { event, world: done.state, acting: next, ...(write && !isSame && { wrote: write.object }) };
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
