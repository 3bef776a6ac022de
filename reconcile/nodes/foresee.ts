import { timestamp } from '../time/timestamp.ts';
import { decideNodes } from './decide.ts';
import { type NodeAction, type NodeVerdict, rebootTimeoutOf } from './decision.ts';
import type { NodesObservation } from './observation.ts';
import { isStuck } from './reasons.ts';
import type { Sim } from './sim-host.ts';
import { applied, movedOn } from './simulate.ts';

/** What would be done for a node policy if nothing else happened: by the very rules of its steps. Pure. */

export interface NodePlan {
  readonly policy: string;
  /** Nodes that would be rebooted, in this order. */
  readonly reboots: readonly PlannedReboot[];
  /** How long clusters run with one less for one node: as the last reboot took, in seconds. Absent: none was timed. */
  readonly oneLessSeconds?: number;
  /** In milliseconds: then it is told that a node, or its members, do not come back. */
  readonly timeout: number;
  /** In words: what is asked for only when a node is to begin. */
  readonly unforeseen: readonly string[];
  /** Nodes that need a reboot, and would not begin. */
  readonly left: readonly Pick<NodeVerdict, 'node' | 'reason' | 'message'>[];
}

interface PlannedReboot {
  readonly node: string;
  readonly why: string;
  /** It waits for a window that opens then. */
  readonly notBefore?: string;
  /** What leaves before: other pods, leaders, and members that are down until the node is back. */
  readonly pods: number;
  readonly leaders: readonly string[];
  readonly members: readonly string[];
}

/** In steps: each node takes about eight. */
const longest = 20_000;

export function foreseeNodes(seen: NodesObservation): NodePlan {
  let sim: Sim = { seen, away: new Map(), grants: 0 };
  const reboots = new Map<string, PlannedReboot>();
  let opened: string | undefined;
  for (let step = 0; step < longest; step += 1) {
    const decision = decideNodes(sim.seen);
    const { action, verdicts, nextAt } = decision;
    if (action) {
      const after = applied(sim, decision, action);
      if (!after) return planOf(seen, [...reboots.values()], verdicts);
      note(reboots, action, sim, opened);
      sim = after;
      continue;
    }
    const moved = movedOn(sim, new Set(verdicts.flatMap(({ node, reason }) => (isStuck(reason) ? [node] : []))));
    if (moved) sim = moved;
    else if (nextAt) {
      opened = timestamp(nextAt);
      sim = { ...sim, seen: { ...sim.seen, at: nextAt } };
    } else return planOf(seen, [...reboots.values()], verdicts);
  }
  return planOf(seen, [...reboots.values()], []);
}

function planOf({ policy }: NodesObservation, reboots: readonly PlannedReboot[], verdicts: readonly NodeVerdict[]) {
  const left = verdicts.map(({ node, reason, message }) => ({ node, reason, message }));
  const { lastDone: { oneLessSeconds } = {} } = policy.status ?? {};
  const { blockedByAlerts, kured } = policy.spec;
  return {
    policy: policy.metadata.name,
    reboots,
    ...(oneLessSeconds !== undefined && { oneLessSeconds }),
    timeout: rebootTimeoutOf(policy.spec),
    unforeseen: [
      ...(blockedByAlerts ? ['no node begins while an alert of spec.blockedByAlerts is firing'] : []),
      ...(kured ? ["no node begins while kured's lock is held"] : []),
    ],
    left,
  };
}

function note(
  reboots: Map<string, PlannedReboot>,
  action: NodeAction,
  { seen }: Sim,
  opened: string | undefined,
): void {
  const { node } = action;
  const why = seen.nodes.find(({ name }) => name === node)?.needed ?? '';
  const before = reboots.get(node) ?? { node, why, pods: 0, leaders: [], members: [] };
  if (action.kind === 'grant') reboots.set(node, { ...before, ...(opened !== undefined && { notBefore: opened }) });
  if (action.kind === 'move-leaders')
    reboots.set(node, { ...before, leaders: action.moves.map(({ cluster, name }) => `${cluster} to ${name}`) });
  if (action.kind !== 'evict') return;
  const pods = seen.nodes.find(({ name }) => name === node)?.pods ?? [];
  const names = new Set(action.pods.map(({ namespace, name }) => `${namespace}/${name}`));
  const leaving = pods.filter(({ namespace, name }) => names.has(`${namespace}/${name}`));
  const members = leaving.flatMap(({ cluster, name }) => (cluster === undefined ? [] : [`${cluster}: ${name}`]));
  reboots.set(node, {
    ...before,
    pods: before.pods + leaving.length - members.length,
    members: [...before.members, ...members],
  });
}
