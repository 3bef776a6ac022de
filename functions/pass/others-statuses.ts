import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { type ForgeFailure, failureOf, forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { openFleetForge } from './fleet-forge.ts';

interface OthersRead {
  /** Absent: not known, so that later stages wait. */
  readonly read?: EtcdFleetStatus['othersStatuses'];
  readonly failure?: ForgeFailure;
}

interface ReadContext {
  /** Nothing is left to do: what was read is kept, and nothing asked. */
  readonly isSettled: boolean;
  /** What the forge has just said. */
  readonly said: ForgeFailure | undefined;
  readonly kube: Kube;
  readonly signal: AbortSignal;
  /** In milliseconds since the epoch. */
  readonly deadline: number;
}

const outOfTime: ForgeFailure = { reason: 'Timeout', message: 'no time was left to read commit statuses' };

/**
 * What commit statuses of others say of that commit (`spec.rollout.haltOnStatuses`), in one look. Nothing of the answer
 * is kept but which of the fleet's own words it is. Never throws because of the forge.
 */
export async function readOthersStatuses(
  fleet: EtcdFleet,
  sha: string | undefined,
  { isSettled, said, kube, signal, deadline }: ReadContext,
): Promise<OthersRead> {
  const contexts = fleet.spec.rollout?.haltOnStatuses ?? [];
  if (contexts.length === 0 || sha === undefined) return {};
  const before = fleet.status?.othersStatuses?.sha === sha ? fleet.status.othersStatuses : undefined;
  if (isSettled) return before ? { read: before } : {};
  // A failure that was read stays one until another state is read. That none was, is known no more.
  const known = before?.failed !== undefined ? { read: before } : {};
  const left = deadline - Date.now();
  const limit = said?.retryAt === undefined ? forgeLimit(fleet, Date.now()) : said;
  if (limit) return { ...known, failure: limit };
  if (left <= 0) return { ...known, failure: outOfTime };
  const opened = await openFleetForge(fleet, { kube, signal });
  if (opened?.kind !== 'open') return { ...known, ...(opened && { failure: opened }) };
  const { ForgeError } = await import('../../gitops/forges/error.ts');
  try {
    const failed = await opened.forge.failedStatus(sha, contexts, { signal: abortAfter(left, signal) });
    return { read: { sha, ...(failed !== undefined && { failed }) } };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return { ...known, failure: failureOf(error) };
  }
}
