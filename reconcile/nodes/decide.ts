import type { EtcdNodePolicySpec, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { openingOf } from '../schedule/windows.ts';
import { timestamp } from '../timestamp.ts';
import {
  drainTimeoutOf,
  grantIdLength,
  type NodeAction,
  type NodesDecision,
  type NodeVerdict,
  roomOf,
  unmanagedAmong,
} from './decision.ts';
import { objectionOf } from './etcd.ts';
import { inTurn } from './marks.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import { isStuck, type NodeReason } from './reasons.ts';
import { goOn } from './way.ts';

/**
 * What one step does for a node policy. Pure. Nodes that have begun go on before another one begins, and none begins
 * while one of them is stuck.
 */
export function decideNodes(seen: NodesObservation): NodesDecision {
  const { policy, nodes } = seen;
  const grants = policy.status?.grants ?? [];
  const begun = grants.map((grant) => verdictOf(seen, grant));
  const isHeld = begun.some(({ reason }) => isStuck(reason));
  const waiting = waitingNodes(seen);
  const opening = openingOf(policy.spec.windows, seen.at);
  const candidates = waiting.map((node) => candidateOf(seen, node, { opening, isHeld }));
  const verdicts = [...begun, ...candidates];
  const next = firstOf(verdicts, seen);
  return {
    ...(next?.action && { action: next.action }),
    verdicts,
    selected: nodes.filter(({ selected }) => selected).length,
    needed: waiting.length,
    ...(opening.kind === 'shut' && waiting.length > 0 && opening.opensAt && { nextAt: opening.opensAt }),
  };
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
function firstOf(verdicts: readonly NodeVerdict[], { policy }: NodesObservation): NodeVerdict | undefined {
  const told = policy.status?.blocked ?? [];
  const kept = new Set(told.flatMap(({ node, reason }) => (reason === 'EvictionRefused' ? [node] : [])));
  const turn = ({ node, action }: NodeVerdict) => (action ? turns[action.kind] + (kept.has(node) ? 0.5 : 0) : 0);
  return verdicts.filter(({ action }) => action !== undefined).toSorted((a, b) => turn(a) - turn(b))[0];
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

interface Circumstances {
  readonly opening: ReturnType<typeof openingOf>;
  readonly isHeld: boolean;
}

/** The order of its objections: what a person decided, what the policy allows, what runs on it, and what etcd says. */
function candidateOf(seen: NodesObservation, node: NodeSeen, circumstances: Circumstances): NodeVerdict {
  const objection =
    objectionOfPolicy(seen, node, circumstances) ??
    objectionOfPods(node, seen.policy.spec) ??
    objectionOfEtcd(seen, node);
  if (objection) return { node: node.name, ...objection };
  const grant = {
    node: node.name,
    uid: node.uid,
    id: seen.nonce.slice(0, grantIdLength),
    at: timestamp(seen.at),
    why: node.needed ?? '',
    bootID: node.bootId,
    clusters: clustersOn(node),
  };
  const action: NodeAction = { kind: 'grant', node: node.name, grant };
  return { node: node.name, reason: 'Granted', message: `${node.name} begins: ${node.needed}`, action };
}

type Objected = { readonly reason: NodeReason; readonly message: string } | undefined;

function objectionOfPolicy(seen: NodesObservation, node: NodeSeen, { opening, isHeld }: Circumstances): Objected {
  const { policy, at } = seen;
  const { name } = node;
  if (policy.metadata.deletionTimestamp !== undefined || policy.spec.suspend)
    return { reason: 'Suspended', message: `${name} does not begin while spec.suspend is true` };
  if (opening.kind === 'unreadable') return { reason: 'InvalidWindow', message: `spec.${opening.problem}` };
  if (opening.kind === 'shut') {
    const opens = opening.opensAt ? `, the next opens at ${timestamp(opening.opensAt)}` : '';
    return { reason: 'OutsideWindows', message: `${name} begins within a window of spec.windows${opens}` };
  }
  if (node.ofOther !== undefined)
    return { reason: 'OfOtherPolicy', message: `EtcdNodePolicy ${node.ofOther} is about ${name} as well` };
  const kured = seen.nodes.find((one) => one.kured);
  if (kured) return { reason: 'KuredAtWork', message: `kured reboots ${kured.name}: ${name} waits` };
  if (isHeld) return { reason: 'NoRoom', message: `${name} waits for a node that is stuck` };
  if (!node.ready || node.bootId === '')
    return { reason: 'NodeNotReady', message: `${name} is not Ready, or does not say which boot it runs` };
  const away = seen.nodes.filter((one) => isUnavailable(seen, one)).map((one) => one.name);
  if (away.length >= roomOf(policy.spec, seen.nodes.filter((one) => one.selected).length))
    return { reason: 'NoRoom', message: `${name} waits: ${away.slice(0, 5).join(', ')} unavailable` };
  const { putOff } = node.marks;
  const isOver = putOff?.word === 'CalledOff' || putOff?.word === 'PolicyGone';
  const until = putOff && !isOver ? new Date(putOff.at.getTime() + drainTimeoutOf(policy.spec)) : undefined;
  if (putOff && until && at < until)
    return { reason: 'PutOff', message: `${name} was put off (${putOff.word}), until ${timestamp(until)}` };
  return undefined;
}

function objectionOfPods({ name, pods }: NodeSeen, spec: EtcdNodePolicySpec): Objected {
  if (pods === undefined) return { reason: 'NoRoom', message: `${name} was not looked at yet: it waits for its turn` };
  const blocking = pods.find(({ blocks }) => blocks);
  if (blocking)
    return { reason: 'BlockingPod', message: `${name} waits for pod ${blocking.namespace}/${blocking.name}` };
  return unmanagedAmong(pods, spec);
}

function objectionOfEtcd({ clusters, policy, ofOthers = [] }: NodesObservation, node: NodeSeen): Objected {
  const named = new Set(policy.spec.allowDowntimeOf);
  const begun = [...(policy.status?.grants ?? []), ...ofOthers];
  for (const key of clustersOn(node)) {
    const cluster = clusters.find((one) => one.key === key);
    if (!cluster) return { reason: 'ClusterBusy', message: `EtcdCluster ${key} could not be looked at` };
    const objection = objectionOf(cluster, node.name, { downtime: named.has(key) });
    if (objection) return objection;
    // Its member there may still serve: the two would hand leadership to each other, and one wait for the other.
    const other = begun.find((grant) => grant.clusters.includes(key) && grant.node !== node.name);
    if (other && !named.has(key)) {
      const message = `EtcdCluster ${key} has a member on ${other.node} as well, which has begun: ${node.name} waits`;
      return { reason: 'ClusterBusy', message };
    }
  }
  return undefined;
}

function clustersOn({ pods = [] }: NodeSeen): readonly string[] {
  return [...new Set(pods.flatMap(({ cluster }) => cluster ?? []))].toSorted();
}

/** Not Ready, under way, or cordoned by us: also where the grant is another policy's, or was lost. */
function isUnavailable({ policy }: NodesObservation, { name, ready, selected, marks }: NodeSeen): boolean {
  const isGranted = policy.status?.grants?.some((grant) => grant.node === name) ?? false;
  return isGranted || (selected && (!ready || marks.granted !== undefined));
}
