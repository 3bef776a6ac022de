import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { drawnFor } from '../stepping/in-turns.ts';

/** Seconds in which each cluster has a full look, where ticks come every minute. */
const fullLookSeconds = 300;

/** A look is at its cluster up to so much later than its tick began, and a tick is to spare. */
const tickSeconds = 60;

/** The time is shorter by up to so many seconds: those that had their looks together do not have all of them so. */
const spreadSeconds = 120;

/** Seconds for which a cluster whose members don't answer there gets full looks only: each try costs the pass time. */
const unheardSeconds = 1_800;

/** Whether the next look may be skipped, as far as the cluster itself says. */
export function mayBeSkipped(cluster: EtcdCluster, now: Date): boolean {
  const { fullLook, lastDecision, step } = cluster.status ?? {};
  if (fullLook === undefined || lastDecision?.reason !== 'Converged' || wantsReconcile(cluster)) return false;
  // A lease: what another invocation was at is to be told, and gone on with.
  if (step !== undefined || isUnheard(cluster, now)) return false;
  const seconds = secondsSince(fullLook.at, now);
  const spread = drawnFor(`${cluster.metadata.uid} ${fullLook.at}`) % spreadSeconds;
  return seconds >= 0 && seconds < fullLookSeconds - tickSeconds - spread;
}

/** Whether members were found not to answer for their health, although all was well, and that is not long ago. */
export function isUnheard({ status }: EtcdCluster, now: Date): boolean {
  const since = status?.fullLook?.unheardSince;
  return since !== undefined && secondsSince(since, now) >= 0 && secondsSince(since, now) < unheardSeconds;
}

/** For how many looks of one a minute this one stands: those since the last full one were skipped. At least 1. */
export function looksInOne({ status }: EtcdCluster, at: Date): number {
  const since = status?.fullLook?.at;
  return since === undefined ? 1 : Math.max(1, Math.round(secondsSince(since, at) / tickSeconds));
}

function secondsSince(time: string, now: Date): number {
  return (now.getTime() - Date.parse(time)) / 1000;
}
