import { GitError } from '../../gitops/error.ts';
import { ForgeError } from '../../gitops/forges/error.ts';
import type { EtcdFleet, RequestCheck } from '../../manifests/api/etcd-fleet.ts';
import { type ForgeFailure, forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { KubeError } from '../../reconcile/kube.ts';
import { openFleetForge } from '../fleet-forge.ts';
import { checkOne, leastMs } from './check-one.ts';
import { type Due, dueRequests, oneForEachHead } from './due.ts';
import { type ChecksContext, type Open, onlyKube } from './open-requests.ts';
import { forgeMs, told } from './tell-request.ts';

export interface ChecksOutcome {
  /** To remember: one for each open request that was checked. */
  readonly checks: readonly RequestCheck[];
  /** What a person should know; absent: every open request is checked. */
  readonly failure?: ForgeFailure;
}

/** Requests of one fleet that are checked in one pass; the next pass goes on. */
const mostPerPass = 10;
/** Requests that are remembered. */
const mostRemembered = 100;
/** Bytes of one answer of the Git server: whoever may open a request decides how many there are, and the pod has 512 MiB. */
const maxBytes = 96 * 1024 * 1024;

/**
 * Checks what asks to be merged into a fleet's branch, and tells the forge.
 *
 * Never throws for what Git, the forge, the API server or a request does wrong: nothing of the fleet's own depends on it.
 *
 * @param target the branch's commit
 */
export async function checkFleet(
  fleet: EtcdFleet,
  { branch, target }: { readonly branch: string; readonly target: string },
  context: ChecksContext,
): Promise<ChecksOutcome> {
  const { kube, log, deadline } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.max(0, deadline - Date.now()))]);
  const remembered = fleet.status?.checks ?? [];
  const limit = forgeLimit(fleet, Date.now());
  if (limit) return { checks: remembered, failure: limit };
  const opened = await openFleetForge(fleet, { kube, signal });
  if (opened?.kind !== 'open') return { checks: remembered, ...(opened && { failure: opened }) };
  const { forge } = opened;
  try {
    const asking = AbortSignal.any([signal, AbortSignal.timeout(forgeMs)]);
    const { requests, more } = await forge.openRequests(branch, { signal: asking });
    return await checkOpen({ fleet, forge, target, branch, requests, more, remembered }, { ...context, signal });
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof GitError || error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'requests could not be checked');
    return { checks: remembered, failure: failureOf(error) };
  }
}

async function checkOpen(open: Open, context: ChecksContext): Promise<ChecksOutcome> {
  const { fleet, target, requests, more, remembered } = open;
  const { kube, log, signal, clusters, deadline } = context;
  const heads = new Map(oneForEachHead(requests).map((request) => [request.headSha, request]));
  const checks = new Map(remembered.filter(({ head }) => heads.has(head)).map((check) => [check.head, check]));
  const due = dueRequests(requests, remembered, target, { fleet, clusters });
  let failure: ChecksOutcome['failure'];
  const failed = (error: ForgeFailure) => {
    failure ??= failureOf(error);
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'a check went wrong');
  };

  let done = 0;
  if (due.length > 0) {
    const { connectFleetGit } = await import('../fleet-git.ts');
    using git = await connectFleetGit(fleet, { kube, signal, limits: { maxBytes } });
    for (const one of due.slice(0, mostPerPass)) {
      if (signal.aborted || deadline - Date.now() < leastMs) break;
      const { headSha, number } = one.request;
      checks.set(headSha, begun(one, target));
      await context.note?.([...checks.values()]);
      const check = await checkOne(one, open, git, context, failed);
      if (!check) {
        if (one.before) checks.set(headSha, one.before);
        else checks.delete(headSha);
        break;
      }
      checks.delete(headSha); // the last one checked goes to the end
      checks.set(headSha, { ...check, number });
      done++;
    }
  }
  // What the forge did not take the last time.
  for (const check of checks.values()) {
    const request = heads.get(check.head);
    if (check.sent || !request || check.state === 'untouched' || failure) continue;
    if (due.some((one) => one.request.headSha === check.head)) continue;
    checks.set(check.head, { ...check, ...(await told(check, open, context, failed)) });
  }
  const closed = remembered.filter(({ head }) => !heads.has(head));
  if (closed.length > 0) {
    const { forgetReports } = await import('./keep-report.ts');
    try {
      await forgetReports(kube, fleet, new Set(heads.keys()), signal);
    } catch (error) {
      onlyKube(failed)(error);
      // Remembered until their reports are gone.
      for (const check of closed) checks.set(check.head, check);
    }
  }

  const left = due.length - done;
  if (left > 0) failure ??= waiting(left);
  if (more)
    failure ??= {
      reason: 'TooManyRequests',
      message: `only the newest ${requests.length} open requests are checked: close old ones`,
    };
  return { checks: [...checks.values()].slice(0, mostRemembered), ...(failure && { failure }) };
}

function begun({ request: { number, headSha: head }, before }: Due, target: string): RequestCheck {
  const { sent: _, ...known } = before ?? { head };
  return { description: 'its check was begun', ...known, number, head, target, state: 'pending' };
}

/** An error, too, is of this form, and holds more. */
function failureOf({ reason, message, retryAt }: ForgeFailure): ForgeFailure {
  return { reason, message, retryAt };
}

function waiting(left: number): NonNullable<ChecksOutcome['failure']> {
  return {
    reason: 'ChecksWaiting',
    message: `${left === 1 ? 'an open request waits' : `${left} open requests wait`} for the next pass`,
  };
}
