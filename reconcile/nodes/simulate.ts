import { play } from '../requests/play.ts';
import { actOnNode } from './act.ts';
import type { NodeAction, NodesDecision } from './decision.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import { nodePolicyStatus } from './report.ts';
import { nodeRequests } from './requests/all.ts';
import { type Away, onNode, type Sim, simHost, withClusters } from './sim-host.ts';

/** A step's own lines, run where nothing disturbs them; the world does what is expected of it at once. Pure. */

/** What the action of a decision leaves, and its report. `undefined`: it can't be carried out. */
export function applied(sim: Sim, decision: NodesDecision, action: NodeAction): Sim | undefined {
  const played = play(actOnNode(action, sim.seen), nodeRequests, sim, simHost);
  return played.kind === 'done' ? reported(sim.seen, decision, played.state) : undefined;
}

function reported(before: NodesObservation, decision: NodesDecision, { seen, ...sim }: Sim): Sim {
  const {
    conditions: _,
    blocked: __,
    ...status
  } = nodePolicyStatus(before, decision, { kind: 'acted', kept: [] }, seen.policy);
  const grants = sim.grants + (decision.action?.kind === 'grant' ? 1 : 0);
  const nonce = [...String(grants).padStart(32, '0')].toReversed().join('');
  return { ...sim, grants, seen: { ...seen, policy: { ...seen.policy, status }, nonce } };
}

/** What happens by itself, unless overdue: a node with an order reboots, and pods of a node that is back return. */
export function movedOn(sim: Sim, stuck: ReadonlySet<string>): Sim | undefined {
  const goingDown = sim.seen.nodes.find(
    ({ name, bootId, marks }) =>
      marks.granted && !stuck.has(name) && (marks.now !== undefined || marks.inProgress?.word === bootId),
  );
  if (goingDown) return rebooted(sim, goingDown);
  for (const { name, marks } of sim.seen.nodes) {
    const away = marks.returned && !stuck.has(name) && (sim.away.get(name) ?? awayBefore(sim, name));
    if (away) return returned(sim, name, away);
  }
  return undefined;
}

function rebooted(sim: Sim, { name, bootId }: NodeSeen): Sim {
  return onNode(sim, name, ({ marks: { now: _, ...marks }, ...node }) => ({
    ...node,
    ready: true,
    bootId: `${bootId}+`,
    marks: { ...marks, inProgress: { at: sim.seen.at, word: bootId } },
  }));
}

/** Of a node that was down when the plan was made: members of its clusters that are nowhere. */
function awayBefore({ seen }: Sim, name: string): Away | undefined {
  const keys = new Set(seen.policy.status?.grants?.find(({ node }) => node === name)?.clusters);
  const nowhere = seen.clusters.flatMap(({ key, members }) =>
    members.flatMap((one) => (keys.has(key) && one.node === undefined ? [`${key}/${one.name}`] : [])),
  );
  return nowhere.length > 0 ? { pods: [], members: new Set(nowhere) } : undefined;
}

function returned(sim: Sim, name: string, { pods, members }: Away): Sim {
  const away = new Map(sim.away);
  away.delete(name);
  const home = onNode({ ...sim, away }, name, (node) => ({ ...node, pods }));
  return withClusters(home, (cluster) => ({
    ...cluster,
    members: cluster.members.map((member) =>
      members.has(`${cluster.key}/${member.name}`) ? { ...member, node: name, serves: true } : member,
    ),
  }));
}
