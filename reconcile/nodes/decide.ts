import type { NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { openingOf } from '../time/due.ts';
import { timestamp } from '../time/timestamp.ts';
import { grantIdLength, type NodeAction, type NodesDecision, type NodeVerdict } from './decision.ts';
import { inTurn } from './marks.ts';
import { type Circumstances, clustersOn, keepingNow, objectionToBegin, overruledOn } from './may-begin.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import { isStuck, nodeMeanings } from './reasons.ts';
import { goOn } from './way.ts';

/** One step of a node policy. Pure. Nodes under way go on before another begins; none begins while one is stuck. */
export function decideNodes(seen: NodesObservation): NodesDecision {
  const { policy, nodes } = seen;
  const grants = policy.status?.grants ?? [];
  const begun = grants.map((grant) => verdictOf(seen, grant));
  const isHeld = begun.some(({ reason }) => isStuck(reason));
  const waiting = waitingNodes(seen);
  const opening = openingOf(policy.spec.windows, seen.at);
  const candidates = waiting.map((node) => candidateOf(seen, node, { opening, isHeld }));
  const verdicts = [...begun, ...candidates, ...looksToTell(seen)];
  const action = firstOf(verdicts, seen);
  const keeping = keepingNow(seen, waiting);
  return {
    ...(action && { action }),
    verdicts,
    selected: nodes.filter(({ selected }) => selected).length,
    needed: waiting.length,
    ...(keeping.length > 0 && { keeping }),
    ...(opening.kind === 'shut' && waiting.length > 0 && opening.opensAt && { nextAt: opening.opensAt }),
  };
}

const untold = { old: 'SentinelStays', failed: 'LookFailed' } as const;

/** Looks that came to nothing that a person should know. */
function looksToTell({ policy, nodes }: NodesObservation): readonly NodeVerdict[] {
  if (!policy.spec.sentinel) return [];
  return nodes.flatMap(({ name, selected, needed, marks: { looked } }) => {
    const reason = looked?.word === 'old' || looked?.word === 'failed' ? untold[looked.word] : undefined;
    if (!reason || !selected || needed !== undefined) return [];
    return [{ node: name, reason, message: `${name}: ${nodeMeanings[reason].means}` }];
  });
}

/** What ends a node's way, or brings it back, comes first: it makes room. */
const turns: Readonly<Record<NodeAction['kind'], number>> = {
  drop: 0,
  finish: 1,
  welcome: 2,
  'put-off': 3,
  order: 4,
  'move-leaders': 5,
  cordon: 6,
  evict: 7,
  grant: 8,
};

/** A node whose pods a disruption budget kept last time lets the others go first. */
function firstOf(verdicts: readonly NodeVerdict[], { policy }: NodesObservation): NodeAction | undefined {
  const told = policy.status?.blocked ?? [];
  const kept = new Set(told.flatMap(({ node, reason }) => (reason === 'EvictionRefused' ? [node] : [])));
  const turn = ({ node, kind }: NodeAction) => turns[kind] + (kept.has(node) ? 0.5 : 0);
  return verdicts.flatMap(({ action }) => action ?? []).toSorted((a, b) => turn(a) - turn(b))[0];
}

function verdictOf(seen: NodesObservation, grant: NodeGrant): NodeVerdict {
  const node = seen.nodes.find(({ name }) => name === grant.node);
  if (node?.uid !== grant.uid) {
    const message = `the Node object of ${grant.node} is gone`;
    return { node: grant.node, reason: 'NodeGone', message, action: { kind: 'drop', node: grant.node, id: grant.id } };
  }
  return goOn(seen, node, grant);
}

/** In turn. */
function waitingNodes({ nodes, policy }: NodesObservation): readonly NodeSeen[] {
  const begun = new Set((policy.status?.grants ?? []).map(({ node }) => node));
  const waiting = nodes.filter(({ name, needed, selected }) => selected && needed !== undefined && !begun.has(name));
  return inTurn(waiting, (node) => node);
}

function candidateOf(seen: NodesObservation, node: NodeSeen, circumstances: Circumstances): NodeVerdict {
  const objection = objectionToBegin(seen, node, circumstances);
  if (objection) return { node: node.name, ...objection };
  const overruled = overruledOn(seen, node);
  const grant = {
    node: node.name,
    uid: node.uid,
    id: seen.nonce.slice(0, grantIdLength),
    at: timestamp(seen.at),
    why: node.needed ?? '',
    bootID: node.bootId,
    clusters: clustersOn(node),
    ...(overruled.length > 0 && { overruled }),
  };
  const action: NodeAction = { kind: 'grant', node: node.name, grant };
  return { node: node.name, reason: 'Granted', message: `${node.name} begins: ${node.needed}`, action };
}
