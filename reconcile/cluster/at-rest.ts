import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { drawnFor } from '../stepping/in-turns.ts';

/** Seconds in which each cluster has a full look, where ticks come every minute. */
const fullLookSeconds = 300;

/** A tick that comes a little early is the last one before the time is over. */
const tickSeconds = 60;

/** The time is shorter by up to so many seconds: those that had their looks together do not have all of them so. */
const spreadSeconds = 90;

/** Whether the next look may be skipped, as far as the cluster itself says. */
export function mayBeSkipped(cluster: EtcdCluster, now: Date): boolean {
  const { fullLook, lastDecision } = cluster.status ?? {};
  if (fullLook === undefined || lastDecision?.reason !== 'Converged' || wantsReconcile(cluster)) return false;
  const seconds = (now.getTime() - Date.parse(fullLook.at)) / 1000;
  const spread = drawnFor(`${cluster.metadata.uid} ${fullLook.at}`) % spreadSeconds;
  return seconds >= 0 && seconds < fullLookSeconds - tickSeconds / 2 - spread;
}
