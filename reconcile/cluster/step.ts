import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdTls } from '../etcd.ts';
import type { EtcdAdmin } from '../etcd-admin.ts';
import type { Kube } from '../kube.ts';
import { act } from './act.ts';
import type { AskWire } from './certificates/read.ts';
import { claim, type Holder, stepSeconds } from './claim.ts';
import { decide, type Situation, situate } from './decide.ts';
import type { Decision } from './decision.ts';
import { type EtcdWay, fencedEtcd } from './etcd-way.ts';
import { fenced } from './fence.ts';
import { goingOn } from './going-on.ts';
import { observe } from './observe.ts';
import { failureOf, type Outcome } from './outcome.ts';
import { report } from './report.ts';
import type { ClusterResult } from './result.ts';
import type { ClusterObjects } from './snapshot.ts';

export interface StepContext {
  readonly kube: Kube;
  /** Connects on first use: a pass over clusters of which nothing runs never loads an etcd client. */
  readonly etcd: (tls?: EtcdTls) => Promise<EtcdAdmin>;
  /** What a member presents on the wire. */
  readonly wire: AskWire;
  readonly holder: Holder;
  /** Fresh randomness: letters and digits, at least 128 bits. */
  readonly nonce: () => string;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Prints what would be done and touches nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/** What one step looks at, of the one LIST per kind. */
export interface StepObjects extends ClusterObjects {
  /** Who takes the room that it would need to begin anything; absent where there is room. */
  readonly crowdedBy?: readonly string[];
}

/**
 * Exactly one step for one cluster: observe, decide, claim, act, report.
 *
 * A failure is this cluster's result, never an exception: one cluster must not stop the others.
 */
export async function step(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  const { kube, signal, dryRun } = context;
  const { observation, etcd, objects: read } = await observe(context, objects, signal);
  const situation = situate({ ...observation, ...(objects.crowdedBy && { crowdedBy: objects.crowdedBy }) });
  const decision = decide(situation);
  if (dryRun) return resultOf(objects.cluster, decision, { kind: 'none' }, decision);

  const { outcome, written } = await carryOut(context, etcd, situation, decision);
  const quiet = outcome.kind === 'lost' || situation.claim.kind === 'held';
  const cluster = quiet
    ? written
    : await report(
        kube,
        { situation, decision, outcome, written, objects: read },
        { log: context.log, signal: reportSignal(signal) },
      );
  return resultOf(cluster, decision, outcome, goingOn(situation, decision, outcome));
}

async function carryOut(
  { kube, holder, signal }: StepContext,
  etcd: EtcdWay,
  situation: Situation,
  decision: Decision,
): Promise<{ readonly outcome: Outcome; readonly written: EtcdCluster }> {
  const { cluster } = situation;
  if (decision.kind !== 'act') return { outcome: { kind: 'none' }, written: cluster };
  const { action, reason } = decision;
  const now = kube.now() ?? situation.at;
  const deadline = performance.now() + stepSeconds * 1000;
  // From before the claim is sent: whatever the answer takes counts against us, never for us.
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(stepSeconds * 1000)]);
  const claimed = await claim(kube, cluster, { action, reason, holder, now }, inTime);
  if (!claimed) return { outcome: { kind: 'lost' }, written: cluster };
  // A process that slept between its last answer and the claim wrote a deadline that is nearer than it thinks.
  const asleep = Math.max(0, (kube.now() ?? now).getTime() - now.getTime());
  try {
    const end = deadline - asleep;
    await act(action, {
      kube: fenced(kube, inTime, end),
      etcd: fencedEtcd(etcd, inTime, end),
      cluster: claimed,
      signal: inTime,
    });
    return { outcome: { kind: 'acted' }, written: claimed };
  } catch (error) {
    return { outcome: { kind: 'failed', failure: failureOf(error) }, written: claimed };
  }
}

/** A pass that is out of time still says what it did: that is worth a few seconds of their own. */
function reportSignal(signal: AbortSignal): AbortSignal {
  return signal.aborted ? AbortSignal.timeout(3000) : signal;
}

/** @param next what is left to do: an action that was refused leaves what is decided without it. */
function resultOf(cluster: EtcdCluster, decision: Decision, outcome: Outcome, next: Decision): ClusterResult {
  const { namespace = '', name } = cluster.metadata;
  const problem = outcome.kind === 'failed' ? outcome.failure.message : undefined;
  return {
    namespace,
    name,
    decision,
    outcome: outcome.kind,
    ...(problem !== undefined && { problem }),
    workRemains: next.kind === 'act' || next.kind === 'wait',
    cluster,
  };
}
