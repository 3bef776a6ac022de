import type { EtcdNodePolicy, EtcdNodePolicyStatus, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import { conditionsFrom, type Said } from '../objects/conditions.ts';
import { withRunbook } from '../reasons/runbook.ts';
import { timestamp } from '../time/timestamp.ts';
import type { NodesDecision, NodeVerdict } from './decision.ts';
import type { NodesObservation } from './observation.ts';
import { isStuck, type NodeMeaning, type NodeReason, nodeMeanings } from './reasons.ts';

export type NodeOutcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'acted'; readonly kept: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string; readonly refused: boolean };

/** The verdicts as they are told: with what the action came to. Pure. */
export function toldVerdicts({ verdicts, action }: NodesDecision, outcome: NodeOutcome): readonly NodeVerdict[] {
  return verdicts.map((verdict) => {
    if (verdict.action !== action) return verdict;
    if (outcome.kind === 'failed') {
      const isJob = outcome.refused && isOrder(action);
      return {
        ...verdict,
        ...(isJob && { reason: 'JobRefused' as const }),
        message: `${verdict.message}: ${outcome.message}`,
      };
    }
    if (outcome.kind === 'none' || outcome.kept.length === 0) return verdict;
    const names = outcome.kept.slice(0, 3).join(', ');
    return { ...verdict, reason: 'EvictionRefused', message: `${verdict.node}: a PodDisruptionBudget keeps ${names}` };
  });
}

/** The status after a step. Pure. At rest it is what it was. */
export function nodePolicyStatus(
  { policy, at }: NodesObservation,
  decision: NodesDecision,
  outcome: NodeOutcome,
  written: EtcdNodePolicy = policy,
): EtcdNodePolicyStatus {
  const { generation = 0 } = policy.metadata;
  const before = written.status;
  const over = outcome.kind === 'acted' ? endedBy(decision) : undefined;
  const all = outcome.kind === 'acted' ? withOneLess(before?.grants ?? [], decision, at) : (before?.grants ?? []);
  const grants = all.filter(({ id }) => id !== over?.id);
  const verdicts = toldVerdicts(decision, outcome);
  const begun = decision.action?.kind === 'grant' && outcome.kind === 'acted' ? 1 : 0;
  const done = (before?.done ?? 0) + (over?.completed ? 1 : 0);
  const lastDone = over?.completed ? doneNow(over, all, before?.lastDone, at) : before?.lastDone;
  const waiting = verdicts.filter(({ node, reason }) => reason !== 'RebootDone' && over?.node !== node);
  return {
    observedGeneration: generation,
    nodes: decision.selected,
    needed: Math.max(0, decision.needed - begun),
    inProgress: grants.length,
    done,
    ...(lastDone && { lastDone }),
    ...(grants.length > 0 && { grants }),
    ...(waiting.length > 0 && { blocked: waiting.slice(0, 20).map(blockedOf) }),
    ...(decision.keeping && { keeping: decision.keeping }),
    conditions: conditionsFrom(statements(waiting, grants), before?.conditions, { generation, at }),
  };
}

/** From the first member that leaves on; where that was not noted, as after a crash, from the order on. */
function withOneLess(grants: readonly NodeGrant[], { action }: NodesDecision, at: Date): readonly NodeGrant[] {
  const begins = action?.kind === 'evict' ? action.pods.some(({ cluster }) => cluster !== undefined) : isOrder(action);
  if (!begins) return grants;
  return grants.map((grant) =>
    grant.node === action?.node && grant.oneLessSince === undefined && grant.clusters.length > 0
      ? { ...grant, oneLessSince: timestamp(at) }
      : grant,
  );
}

function isOrder(action: NodesDecision['action']): boolean {
  return action?.kind === 'order';
}

/** The time of a node without members says nothing: that of the last one with some stays. */
function doneNow(
  { node, id }: { readonly node: string; readonly id: string },
  grants: readonly NodeGrant[],
  before: LastDone | undefined,
  at: Date,
): LastDone {
  const since = grants.find((grant) => grant.id === id)?.oneLessSince;
  const oneLessSeconds =
    since === undefined ? before?.oneLessSeconds : Math.max(0, Math.round((at.getTime() - Date.parse(since)) / 1000));
  return { node, at: timestamp(at), ...(oneLessSeconds !== undefined && { oneLessSeconds }) };
}

type LastDone = NonNullable<EtcdNodePolicyStatus['lastDone']>;

function endedBy({ action }: NodesDecision) {
  switch (action?.kind) {
    case 'finish':
      return { node: action.node, id: action.id, completed: true };
    case 'put-off':
      return { node: action.node, id: action.id, completed: false };
    case 'drop':
      return { node: action.node, id: action.id, completed: action.completed === true };
    case 'grant':
    case 'cordon':
    case 'move-leaders':
    case 'evict':
    case 'order':
    case 'welcome':
    case undefined:
      return undefined;
  }
}

function blockedOf({ node, reason, message }: NodeVerdict) {
  return { node, reason, message: message.slice(0, 1000) };
}

/** The most urgent first: what is stuck, what is under way, what a person can do, what waits. */
function statements(verdicts: readonly NodeVerdict[], grants: readonly NodeGrant[]): readonly Said[] {
  const stuck = verdicts.find(({ reason }) => isStuck(reason));
  const begun = verdicts.find(({ node }) => grants.some((grant) => grant.node === node));
  const asking = verdicts.find(({ reason }) => cureOf(reason) !== undefined);
  const first = stuck ?? begun ?? asking ?? verdicts[0];
  if (!first) return [{ type: 'Ready', status: 'True', reason: 'NothingToDo', message: 'no node needs a reboot' }];
  const { reason } = first;
  const cure = cureOf(reason);
  const message = cure === undefined ? first.message : `${first.message}. ${cure}`;
  const isStalled = stuck !== undefined || reason === 'InvalidWindow';
  return [
    { type: 'Ready', status: isStalled ? 'False' : 'True', reason, message },
    ...(grants.length > 0 && !stuck ? [{ type: 'Reconciling', status: 'True', reason, message } as const] : []),
    ...(isStalled
      ? [{ type: 'Stalled', status: 'True', reason, message: withRunbook(message, 'EtcdNodePolicy') } as const]
      : []),
  ];
}

function cureOf(reason: NodeReason): string | undefined {
  const meaning: NodeMeaning = nodeMeanings[reason];
  return meaning.cure;
}
