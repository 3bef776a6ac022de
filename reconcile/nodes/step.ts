import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../manifests/kube-types.ts';
import { failureOf } from '../cluster/know/outcome.ts';
import { fenced } from '../cluster/write-fence.ts';
import { EtcdError } from '../interfaces/etcd.ts';
import { KubeError, resources } from '../interfaces/kube.ts';
import { writeEvent } from '../objects/event.ts';
import type { StepResult } from '../stepping/result.ts';
import { actOnNode } from './act.ts';
import { decideNodes } from './decide.ts';
import type { NodesDecision, NodeVerdict } from './decision.ts';
import { alsoLooking, lookForSentinels } from './looking.ts';
import { type NodesContext, type NodesObserved, observeNodes } from './observe.ts';
import { isStuck, type NodeReason } from './reasons.ts';
import { type NodeOutcome, nodePolicyStatus, toldVerdicts } from './report.ts';
import { runNodeAction } from './requests/all.ts';

/** What one step did about one policy. `nextAt`: when the next window opens for a node that waits. */
export type NodePolicyResult = StepResult;

interface Lists {
  readonly nodes: readonly Node[];
  readonly policies: readonly EtcdNodePolicy[];
}

export interface NodeStepContext extends NodesContext {
  readonly image: () => Promise<string>;
}

/** Until what a disruption budget keeps, or what failed, is tried again, in seconds. */
const retrySeconds = 5;
/** So long may one step look and write, in seconds. */
const stepSeconds = 20;

/** One step for one policy: observe, decide, act, report. @throws {KubeError} when it can't be read or written */
export async function stepNodePolicy(
  policy: EtcdNodePolicy,
  lists: Lists,
  context: NodeStepContext,
): Promise<NodePolicyResult> {
  // From before the first look: what is written rests on it, and is not older than this.
  const deadline = performance.now() + stepSeconds * 1000;
  const looking = await lookForSentinels(policy, lists, context);
  return alsoLooking(await stepOnWay(policy, lists, { ...context, deadline }), looking);
}

async function stepOnWay(
  policy: EtcdNodePolicy,
  lists: Lists,
  { deadline, ...context }: NodeStepContext & { readonly deadline: number },
): Promise<NodePolicyResult> {
  const observed = await observeNodes(context, policy, lists);
  const decision = decideNodes(observed.seen);
  if (context.dryRun) return resultOf(policy, decision, { kind: 'none' });
  const { outcome, written } = await carryOut(policy, decision, observed, { ...context, deadline });
  if (outcome === 'lost')
    return { ...resultOf(policy, decision, { kind: 'none' }), outcome, workRemains: true, afterSeconds: 1 };
  const told = await tell(observed, decision, { outcome, written }, context);
  const result = resultOf(policy, decision, outcome);
  return told === 'lost' ? { ...result, outcome: 'lost', workRemains: true, afterSeconds: 1 } : result;
}

interface CarriedOut {
  readonly outcome: NodeOutcome | 'lost';
  readonly written: EtcdNodePolicy;
}

async function carryOut(
  policy: EtcdNodePolicy,
  { action }: NodesDecision,
  observed: NodesObserved,
  { kube, signal, image, rebootsIn, holder, deadline }: NodeStepContext & { readonly deadline: number },
): Promise<CarriedOut> {
  if (!action) return { outcome: { kind: 'none' }, written: policy };
  const inTime = abortAfter(Math.ceil(deadline - performance.now()), signal);
  try {
    const shut = fenced(kube, inTime, deadline);
    const deed = await runNodeAction(actOnNode(action, observed.seen), {
      kube: shut,
      observed,
      image,
      rebootsIn,
      holder,
      signal: inTime,
      deadline,
    });
    return { outcome: { kind: 'acted', kept: deed.kept }, written: deed.policy };
  } catch (error) {
    // Another invocation was faster, or a person: the next step looks again.
    const { class: kind, message } = failureOf(error);
    if (!(error instanceof EtcdError) && kind === 'precondition') return { outcome: 'lost', written: policy };
    const refused = error instanceof KubeError && error.class === 'terminal';
    return { outcome: { kind: 'failed', message, refused }, written: policy };
  }
}

interface Told {
  readonly outcome: NodeOutcome;
  readonly written: EtcdNodePolicy;
}

async function tell(
  { seen }: NodesObserved,
  decision: NodesDecision,
  { outcome, written }: Told,
  context: NodeStepContext,
): Promise<'told' | 'lost'> {
  const status = nodePolicyStatus(seen, decision, outcome, written);
  const news = newsOf(decision, outcome, seen.policy);
  try {
    if (!isDeepStrictEqual(status, written.status))
      await context.kube.updateStatus<EtcdNodePolicy>(resources.nodePolicies, { ...written, status }, context);
    for (const one of news) await record(seen, one, context);
    return 'told';
  } catch (error) {
    if (error instanceof KubeError && (error.class === 'precondition' || error.reason === 'NotFound')) return 'lost';
    throw error;
  }
}

/** An event for what was done, and for what became stuck. */
function newsOf(decision: NodesDecision, outcome: NodeOutcome, { status }: EtcdNodePolicy): readonly NodeVerdict[] {
  const told = toldVerdicts(decision, outcome);
  const isNew = ({ node, reason }: NodeVerdict) =>
    !status?.blocked?.some((before) => before.node === node && before.reason === reason);
  const isDeed = (verdict: NodeVerdict) => verdict.action !== undefined && verdict.action === decision.action;
  return told.filter((one) => isNew(one) && (isDeed(one) || isStuck(one.reason)));
}

const warnings: ReadonlySet<NodeReason> = new Set(['DrainTimedOut', 'EvictionRefused', 'JobRefused', 'RebootNotBegun']);

async function record(
  { nodes, at }: NodesObserved['seen'],
  verdict: NodeVerdict,
  context: NodeStepContext,
): Promise<void> {
  const { node, reason, message } = verdict;
  const type = isStuck(reason) || warnings.has(reason) ? 'Warning' : 'Normal';
  const id = `${at.getTime().toString(16)}${randomBytes(4).toString('hex')}`;
  const uid = nodes.find(({ name }) => name === node)?.uid ?? '';
  // Events of what has no namespace are kept in `default`.
  const about = { metadata: { name: node, namespace: 'default', uid } };
  const { kube, signal } = context;
  await writeEvent(
    kube,
    about,
    { type, action: 'Reboot', reason, note: message },
    { id, at, signal, about: resources.nodes },
  );
}

function resultOf(
  { metadata: { name } }: EtcdNodePolicy,
  decision: NodesDecision,
  outcome: NodeOutcome,
): NodePolicyResult {
  const { action, verdicts, nextAt } = decision;
  const index = verdicts.findIndex((one) => one.action === action);
  const shown = toldVerdicts(decision, outcome)[Math.max(0, index)];
  // What a disruption budget keeps, or what failed, is not tried again at once.
  const isHeldUp = outcome.kind === 'failed' || (outcome.kind === 'acted' && outcome.kept.length > 0);
  const waits = isHeldUp ? [retrySeconds] : verdicts.flatMap(({ afterSeconds }) => afterSeconds ?? []);
  const pause = outcome.kind === 'acted' && !isHeldUp ? 0 : Math.min(...waits);
  return {
    name,
    reason: shown?.reason ?? 'NothingToDo',
    message: shown?.message ?? 'no node needs a reboot',
    outcome: outcome.kind,
    workRemains: action !== undefined || waits.length > 0,
    ...(Number.isFinite(pause) && { afterSeconds: pause }),
    ...(nextAt && { nextAt }),
  };
}
