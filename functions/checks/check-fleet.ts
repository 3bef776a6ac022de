import { ForgeError } from '../../gitops/forges/error.ts';
import { GitError } from '../../gitops/git/error.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { type ForgeFailure, forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import { openFleetForge } from '../pass/fleet-forge.ts';
import { checkDue } from './check-due.ts';
import { dueRequests, oneForEachHead } from './due.ts';
import { withEnded } from './ledger.ts';
import { type ChecksChange, type ChecksContext, type Open, onlyKube } from './open-requests.ts';
import { forgeMs, told } from './tell-request.ts';

export interface ChecksOutcome {
  /** The change that must still be recorded; absent: none. */
  readonly change?: ChecksChange;
  /** What a person should know; absent: every open request is checked. */
  readonly failure?: ForgeFailure;
}

/** Checks the requests to merge into a fleet's branch, of commit `target`, and tells the forge. Never throws. */
export async function checkFleet(
  fleet: EtcdFleet,
  { branch, target }: { readonly branch: string; readonly target: string },
  context: ChecksContext,
): Promise<ChecksOutcome> {
  const { kube, log, deadline } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.max(0, deadline - Date.now()))]);
  const remembered = fleet.status?.checks ?? [];
  const limit = forgeLimit(fleet, Date.now());
  if (limit) return { failure: limit };
  const opened = await openFleetForge(fleet, { kube, signal });
  if (opened?.kind !== 'open') return { ...(opened && { failure: opened }) };
  const { forge } = opened;
  try {
    const asking = AbortSignal.any([signal, AbortSignal.timeout(forgeMs)]);
    const { requests, more } = await forge.openRequests(branch, { signal: asking });
    return await checkOpen({ fleet, forge, target, branch, requests, more, remembered }, { ...context, signal });
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof GitError || error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'requests could not be checked');
    return { failure: failureOf(error) };
  }
}

async function checkOpen(open: Open, context: ChecksContext): Promise<ChecksOutcome> {
  const { fleet, requests, more, remembered } = open;
  const { kube, log, signal } = context;
  const heads = new Map(oneForEachHead(requests).map((request) => [request.headSha, request]));
  let failure: ChecksOutcome['failure'];
  const failed = (error: ForgeFailure) => {
    failure ??= failureOf(error);
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'a check went wrong');
  };

  const due = dueRequests(requests, remembered, open.target, { ...context, fleet, now: kube.now() ?? new Date() });
  const { ended: checked, left } = await checkDue(due, open, context, failed);
  const ended = [...checked];
  // What the forge did not take the last time.
  for (const check of remembered) {
    const request = heads.get(check.head);
    if (check.sent || !request || check.state === 'untouched' || check.state === 'pending' || failure) continue;
    if (due.some((one) => one.request.headSha === check.head)) continue;
    ended.push({ head: check.head, before: check, after: { ...check, ...(await told(check, open, context, failed)) } });
  }
  const closed = new Set(remembered.flatMap(({ head }) => (heads.has(head) ? [] : [head])));
  if (closed.size > 0) {
    const { forgetReports } = await import('./keep-report.ts');
    try {
      await forgetReports(kube, fleet, new Set(heads.keys()), signal);
    } catch (error) {
      onlyKube(failed)(error);
      // Remembered until their reports are gone.
      closed.clear();
    }
  }

  if (left > 0) failure ??= waiting(left);
  if (more)
    failure ??= {
      reason: 'TooManyRequests',
      message: `only the newest ${requests.length} open requests are checked: close old ones`,
    };
  const change: ChecksChange = (live) => withEnded(live, ended).filter(({ head }) => !closed.has(head));
  return { change, ...(failure && { failure }) };
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
