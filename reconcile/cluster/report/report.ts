import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { Kube } from '../../interfaces/kube.ts';
import { isReason, KubeError, resources } from '../../interfaces/kube.ts';
import { timestamp } from '../../time/timestamp.ts';
import { isUnheard } from '../at-rest.ts';
import { type Counted, countersAfter } from '../know/counters.ts';
import type { Decision } from '../know/decision.ts';
import { failureOf, type Outcome } from '../know/outcome.ts';
import type { Foretold } from '../know/plan/followed.ts';
import type { Situation } from '../know/situation.ts';
import type { ClusterObjects } from '../observe/snapshot.ts';
import type { StepContext } from '../step-context.ts';
import { recordEvent } from './events.ts';
import { reportPeers } from './peers.ts';
import { statusFor } from './status.ts';

/** A lost report leaves the lease of a finished step: until it ends, no invocation goes on. */
const attempts = 3;
const pauseMs = 200;

/**
 * Says what this step saw and did, on every way out of it: also when etcd, or half of the API, could not be reached.
 * If nothing changed, nothing is written but, at rest, when the look was.
 *
 * @param written the resource as the step left it: with the lease, if one was taken.
 * @returns the resource as reported.
 * @throws {KubeError}
 */
export async function report(
  kube: Kube,
  {
    situation,
    decision,
    outcome,
    written,
    objects,
    foretold,
    look,
    counted,
  }: {
    readonly situation: Situation;
    readonly decision: Decision;
    readonly outcome: Outcome;
    readonly written: EtcdCluster;
    readonly objects: ClusterObjects;
    /** Where a plan begins with this step. */
    readonly foretold?: Foretold;
    /** What a later look compares. Absent: none is skipped on it. */
    readonly look?: FullLook;
    /** Where its fleet halts on what members count. */
    readonly counted?: Counted;
  },
  { log, signal }: Pick<StepContext, 'log' | 'signal'>,
): Promise<EtcdCluster> {
  const counters = countersAfter(situation.cluster, counted, situation.at);
  const status = {
    ...statusFor(situation, decision, outcome, foretold),
    ...(counters && { counters }),
    ...(look && isAtRest(decision) && { fullLook: fullLookAfter(look, situation) }),
  };
  const [cluster] = await Promise.all([
    writeStatus(kube, written, status, signal),
    reportPeers(kube, situation, objects.peers, signal),
    // Events are for readers: where they cannot be written (a namespace that is terminating), the step still counts.
    recordEvent(kube, situation, decision, outcome, signal).catch((error: unknown) => {
      log({ problem: failureOf(error).message }, 'the event could not be recorded');
    }),
  ]);
  return cluster;
}

interface FullLook {
  readonly seen: string;
  readonly unheard: boolean;
}

/** Milliseconds. Looks that are asked for one after the other write nothing, where they see the same. */
const sameMs = 60_000;

function fullLookAfter(
  { seen, unheard }: FullLook,
  { cluster, at }: Situation,
): NonNullable<EtcdClusterStatus['fullLook']> {
  const before = cluster.status?.fullLook;
  const age = at.getTime() - Date.parse(before?.at ?? '');
  if (!unheard && before?.seen === seen && age >= 0 && age < sameMs) return before;
  const unheardSince = isUnheard(cluster, at) ? before?.unheardSince : unheard ? timestamp(at) : undefined;
  return { at: timestamp(at), seen, ...(unheardSince !== undefined && { unheardSince }) };
}

/** Nothing is to be done, and nothing is asked of a person. */
export function isAtRest({ kind, reason, besides = [] }: Decision): boolean {
  return kind === 'done' && reason === 'Converged' && besides.length === 0;
}

async function writeStatus(
  kube: Kube,
  cluster: EtcdCluster,
  status: EtcdClusterStatus,
  signal: AbortSignal,
): Promise<EtcdCluster> {
  if (isDeepStrictEqual(cluster.status, status)) return cluster;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeOnce(kube, cluster, status, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.class === 'terminal' || attempt >= attempts) throw error;
      await pause(attempt * pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}

async function writeOnce(
  kube: Kube,
  cluster: EtcdCluster,
  status: EtcdClusterStatus,
  signal: AbortSignal,
): Promise<EtcdCluster> {
  try {
    return await kube.updateStatus<EtcdCluster>(resources.clusters, { ...cluster, status }, { signal });
  } catch (error) {
    if (isReason(error, 'NotFound')) return { ...cluster, status };
    if (!isReason(error, 'Conflict')) throw error;
    return writeOverChange(kube, cluster, status, signal);
  }
}

/** The spec or an annotation changed meanwhile. Our report is still true, unless another step was begun since. */
async function writeOverChange(
  kube: Kube,
  cluster: EtcdCluster,
  status: EtcdClusterStatus,
  signal: AbortSignal,
): Promise<EtcdCluster> {
  // A step that did nothing has nothing to add to what another invocation may have reported meanwhile.
  if (cluster.status?.step === undefined) return cluster;
  const { namespace, name, uid } = cluster.metadata;
  const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name, { signal });
  if (found?.metadata.uid !== uid || found?.status?.step?.holder.uid !== cluster.status?.step?.holder.uid)
    return cluster;
  if (found === undefined) return cluster;
  return kube.updateStatus<EtcdCluster>(resources.clusters, { ...found, status }, { signal });
}
