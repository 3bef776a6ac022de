import { channel } from 'node:diagnostics_channel';
import { isDeepStrictEqual } from 'node:util';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { HaltAbove } from '../../manifests/api/rollout.ts';
import { annotations } from '../../manifests/render/names.ts';
import { traced } from '../stepping/traced.ts';
import { act } from './act/act.ts';
import { stepSeconds, takeLease } from './act/lease.ts';
import { decide } from './decide/decide.ts';
import { waitForRoom } from './decide/wait-for-room.ts';
import { type EtcdWay, fencedEtcd } from './etcd-way.ts';
import { existingKept } from './know/adoption/kept.ts';
import type { Counted } from './know/counters.ts';
import { type Decision, wakesOn } from './know/decision.ts';
import type { Observation, StageHold } from './know/observation.ts';
import { failureOf, type Outcome } from './know/outcome.ts';
import { outgrown, parseShown } from './know/plan/costs.ts';
import { beginsPlan, type Foretold, justTold } from './know/plan/followed.ts';
import { withoutApprovals } from './know/refused-approvals.ts';
import { type Situation, situate } from './know/situation.ts';
import { askCounters } from './observe/ask-counters.ts';
import { observe } from './observe/observe.ts';
import { type KnownFleets, knownFleets, readFourEyes } from './observe/read-four-eyes.ts';
import { takesRoom } from './observe/room.ts';
import type { RoomNow } from './observe/room-now.ts';
import type { ClusterObjects } from './observe/snapshot.ts';
import { authStatus } from './report/auth.ts';
import { goingOn } from './report/going-on.ts';
import { isAtRest, report } from './report/report.ts';
import type { ClusterResult } from './result.ts';
import { digestOf } from './skipped-look.ts';
import type { StepContext } from './step-context.ts';
import { fenced } from './write-fence.ts';

/** What a step saw and decided, and how that went, before it is reported: said in the process. */
export const steppedChannel = 'etcd-ratchet.stepped';

export interface Stepped {
  readonly observation: Observation;
  readonly decision: Decision;
  readonly outcome: Outcome['kind'];
}

const stepped = channel(steppedChannel);

/** What one step looks at, of the one LIST per kind. */
export interface StepObjects extends ClusterObjects {
  /** The clusters that take the room that it would need to begin a change; absent where there is room. */
  readonly crowdedBy?: readonly string[];
  /** Asked once it has its lease. Absent: how much room there is was not seen. */
  readonly roomNow?: RoomNow;
  /** The stage of its fleet that comes before it and is not over. */
  readonly stage?: StageHold;
  /** Of its fleet: its members are asked for what they count. Or the fleet is in no list of this invocation. */
  readonly haltAbove?: HaltAbove | 'unseen';
  readonly fleets?: KnownFleets;
  /** A member did not say that it is well when it was asked for that alone. */
  readonly unheard?: true;
}

/**
 * Exactly one step for one cluster: observe, decide, lease, act, report.
 *
 * A failure is this cluster's result, never an exception: one cluster must not stop the others.
 */
export async function step(context: StepContext, objects: StepObjects): Promise<ClusterResult> {
  const { kube, signal, dryRun } = context;
  const {
    observation,
    etcd,
    objects: read,
  } = await traced('observe', {}, () => observe({ ...context, mayTry: !dryRun }, objects, signal));
  const fleets = objects.fleets ?? knownFleets(kube, [], signal);
  const fourEyes = await readFourEyes(objects.cluster, { fleets, unread: 'none' }, signal);
  const crowded = objects.crowdedBy && { crowdedBy: objects.crowdedBy };
  const staged = objects.stage && { stage: objects.stage };
  const seen = withoutApprovals({ ...observation, ...crowded, ...staged }, fourEyes);
  const first = await traced('decide', {}, async (note) => {
    const { situation, decision, ahead } = await decided(seen, context.log);
    note({ decision: decision.kind, reason: decision.reason });
    return { situation, decision, ahead };
  });
  if (dryRun) return resultOf(objects.cluster, first.decision, { kind: 'none' }, first.decision);

  const { outcome, written, crowdedBy } = await carryOut(context, etcd, {
    ...first,
    whole: objects.cluster,
    ...(objects.roomNow && !takesRoom(objects) && needsRoom(seen, first.decision) && { roomNow: objects.roomNow }),
  });
  const { situation, decision, ahead } = crowdedBy ? waitingFor(crowdedBy, seen) : first;
  stepped.publish({ observation: seen, decision, outcome: outcome.kind } satisfies Stepped);
  const quiet = outcome.kind === 'lost' || situation.lease.kind === 'held';
  const foretold =
    quiet || !beginsPlan(situation, decision) ? undefined : (ahead ?? (await foretoldOf(seen, context.log)));
  const look = context.health && { look: { seen: digestOf(objects, context), unheard: objects.unheard === true } };
  const counted = objects.haltAbove && {
    counted: await countedOf(objects.haltAbove, { etcd, seen, decision, signal }),
  };
  const all = {
    situation,
    decision,
    outcome,
    written,
    objects: read,
    ...(foretold && { foretold }),
    ...look,
    ...counted,
  };
  const telling = () => report(kube, all, { log: context.log, signal: reportSignal(signal) });
  const cluster = quiet ? written : await traced('report', {}, telling);
  return resultOf(cluster, decision, outcome, goingOn(situation, decision, outcome));
}

interface Decided {
  readonly situation: Situation;
  readonly decision: Decision;
  /** What was foretold before the step. */
  readonly ahead?: Foretold;
}

/** Others took the room between its look and its lease: it says so as if it had seen them, and has done nothing. */
function waitingFor(crowdedBy: readonly string[], seen: Observation): Decided {
  const situation = situate({ ...seen, crowdedBy });
  return { situation, decision: waitForRoom(situation) ?? decide(situation) };
}

interface Stepping {
  readonly etcd: EtcdWay;
  readonly seen: Observation;
  readonly decision: Decision;
  readonly signal: AbortSignal;
}

/** Asked only at rest: nothing that is to be done waits for it. */
async function countedOf(above: HaltAbove | 'unseen', { etcd, seen, decision, signal }: Stepping): Promise<Counted> {
  if (above === 'unseen') return {};
  return isAtRest(decision) ? askCounters(etcd, seen, above, signal) : { above };
}

/**
 * What to do now. A plan that was shown on a request is made anew before its first step: where it costs more by now,
 * the change waits for a minute (healing does not), and `ahead` is that plan.
 */
async function decided(seen: Observation, log: StepContext['log']): Promise<Decided> {
  const situation = situate(seen);
  const decision = decide(situation);
  const held = (outgrown: string) => {
    const situation = situate({ ...seen, outgrown });
    return { situation, decision: decide(situation) };
  };
  const told = justTold(situation);
  if (told !== undefined) return held(told);
  const shown = parseShown(seen.cluster.metadata.annotations?.[annotations.shownPlan]);
  if (!shown || !beginsPlan(situation, decision)) return { situation, decision };
  const ahead = await foretoldOf(seen, log);
  const words = ahead.costs && outgrown(shown, ahead.costs);
  return { ...(words === undefined ? { situation, decision } : held(words)), ahead };
}

/** Whether something else would be done if other clusters of its fleet took the room. */
function needsRoom(seen: Observation, decision: Decision): boolean {
  if (decision.kind !== 'act') return false;
  const without = decide(situate({ ...seen, crowdedBy: [] }));
  return without.kind !== 'act' || !isDeepStrictEqual(without.action, decision.action);
}

/** Loaded only where something new is asked: most looks find nothing to do. No defect of it costs the step's report. */
async function foretoldOf(observation: Observation, log: StepContext['log']): Promise<Foretold> {
  const { foretell } = await import('./foresee/foretell.ts');
  try {
    return foretell(observation);
  } catch (error) {
    log({ problem: failureOf(error).message }, 'the plan could not be made');
    return { steps: [], end: 'unknown', isBlind: false };
  }
}

interface Deciding {
  readonly situation: Situation;
  readonly decision: Decision;
  readonly whole: EtcdCluster;
  /** Of a decision that needs room. */
  readonly roomNow?: RoomNow;
}

async function carryOut(
  { kube, holder, signal, nameAllowances, egress }: StepContext,
  etcd: EtcdWay,
  { situation, decision, whole: cluster, roomNow }: Deciding,
): Promise<{ readonly outcome: Outcome; readonly written: EtcdCluster; readonly crowdedBy?: readonly string[] }> {
  if (decision.kind !== 'act') return { outcome: { kind: 'none' }, written: cluster };
  const { action, reason } = decision;
  const now = kube.now() ?? situation.at;
  const deadline = performance.now() + stepSeconds * 1000;
  // From before the lease is sent: whatever the answer takes counts against us, never for us.
  const inTime = abortAfter(stepSeconds * 1000, signal);
  const existing = existingKept(situation, action);
  const auth = action.kind === 'keep-users' ? authStatus(situation) : undefined;
  const kept = { ...(existing && { existing }), ...(auth && { auth }) };
  const leased = await takeLease(kube, cluster, { action, reason, holder, now, ...kept }, inTime);
  if (!leased) return { outcome: { kind: 'lost' }, written: cluster };
  // A process that slept between its last answer and the lease wrote a deadline that is nearer than it thinks.
  const asleep = Math.max(0, (kube.now() ?? now).getTime() - now.getTime());
  try {
    const end = deadline - asleep;
    const means = {
      kube: fenced(kube, inTime, end),
      etcd: fencedEtcd(etcd, inTime, end),
      cluster: leased,
      ...(nameAllowances && { nameAllowances }),
      ...(egress && { egress }),
      signal: inTime,
    };
    const crowdedBy = await roomNow?.(leased, inTime);
    if (crowdedBy) return { outcome: { kind: 'none' }, written: leased, crowdedBy };
    await traced('act', { action: action.kind }, () => act(action, means));
    return { outcome: { kind: 'acted' }, written: leased };
  } catch (error) {
    return { outcome: { kind: 'failed', failure: failureOf(error) }, written: leased };
  }
}

/** A pass that is out of time still says what it did: that is worth a few seconds of their own. */
function reportSignal(signal: AbortSignal): AbortSignal {
  return signal.aborted ? abortAfter(3000) : signal;
}

/** @param next what is left to do: an action that was refused leaves what is decided without it. */
function resultOf(cluster: EtcdCluster, decision: Decision, outcome: Outcome, next: Decision): ClusterResult {
  const { namespace = '', name } = cluster.metadata;
  const problem = outcome.kind === 'failed' ? outcome.failure.message : undefined;
  return {
    namespace,
    name,
    decision,
    reason: decision.reason,
    message: decision.message,
    outcome: outcome.kind,
    ...(problem !== undefined && { problem }),
    workRemains: next.kind === 'act' || next.kind === 'wait' || wakesOn(next).length > 0,
    cluster,
  };
}
