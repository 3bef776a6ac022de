import { ForgeError } from '../../gitops/forges/error.ts';
import type { ChangeRequest, Queue } from '../../gitops/forges/forge.ts';
import { GitError } from '../../gitops/git/error.ts';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck, RequestsSeen } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { type ForgeFailure, failureOf, forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import { openFleetForge } from '../pass/fleet-forge.ts';
import { checkDue } from './check-due.ts';
import { dueRequests, headsOf, isStale } from './due.ts';
import { admit } from './forks.ts';
import { withEnded } from './ledger.ts';
import { type ChecksChange, type ChecksContext, type Open, onlyKube } from './open-requests.ts';
import { forgeMs } from './shared-forges.ts';
import { isSilent, told } from './tell-request.ts';
import { saidOf, tellWithheld, withWithheld } from './withheld.ts';

interface Checked {
  /** The change that must still be recorded; absent: none. */
  readonly change?: ChecksChange;
  /** What a person should know; absent: every open request is checked. */
  readonly failure?: ForgeFailure;
  /** Which requests from forks are not checked, and why; absent: all are. */
  readonly withheld?: string;
}

export interface ChecksOutcome extends Checked {
  /** Where the next look at the forge's list begins, or what it is compared with; absent: it was not asked for. */
  readonly listed?: { readonly next?: number; readonly seen?: RequestsSeen } | undefined;
}

/** Checks the requests to merge into a fleet's branch, of commit `target`, and tells the forge. Never throws. */
export async function checkFleet(
  fleet: EtcdFleet,
  { branch, target }: { readonly branch: string; readonly target: string },
  context: ChecksContext,
): Promise<ChecksOutcome> {
  const { kube, log, deadline } = context;
  const signal = abortAfter(deadline - Date.now(), context.signal);
  const limit = forgeLimit(fleet, Date.now());
  if (limit) return { failure: limit };
  const opened = await openFleetForge(fleet, { kube, signal, shared: context.forges?.shared });
  if (opened?.kind !== 'open') return { ...(opened && { failure: opened }) };
  const { forge } = opened;
  const from = fleet.status?.requestsFrom;
  const about = { fleet, forge, target, branch };
  let listed: ChecksOutcome['listed'];
  try {
    const asking = abortAfter(forgeMs, signal);
    // If it fails in the middle of the list, the next look begins at its beginning.
    listed = {};
    const before = seenBefore(fleet, target, context);
    if (before && (await forge.isUnchanged?.(branch, before, { signal: asking }))) return { listed: { seen: before } };
    const { requests: open, next, validator } = await forge.openRequests(branch, { signal: asking, from });
    listed = { ...(next !== undefined && { next }) };
    const queue = wantsQueue(fleet) ? await queueOf(about, asking) : { commits: [] };
    const requests = [...queue.commits, ...open];
    const isWhole = from === undefined && next === undefined && queue.failure === undefined;
    const checked = await checkOpen({ requests, isWhole }, about, { ...context, signal });
    const failure = checked.failure ?? queue.failure;
    if (!failure && !checked.withheld && forge.isUnchanged) {
      const heads = new Set(requests.map(({ headSha }) => headSha)).size;
      listed = seenNow(fleet, { heads, list: validator, queue: queue.validator });
    }
    return { listed, ...checked, ...(queue.failure && { failure: queue.failure }) };
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof GitError || error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'requests could not be checked');
    return { listed, failure: failureOf(error) };
  }
}

/**
 * What the lists are compared with, if there is nothing to do as long as they are the same: each check of before is
 * told, and of what is there now.
 */
function seenBefore(fleet: EtcdFleet, target: string, { clusters }: ChecksContext): RequestsSeen | undefined {
  const { checks = [], requestsSeen: seen, requestsFrom } = fleet.status ?? {};
  if (!seen || seen.generation !== fleet.metadata.generation || requestsFrom !== undefined) return undefined;
  // A head that is not remembered has its verdict, perhaps of another target.
  if (checks.length !== seen.heads || wantsQueue(fleet) !== (seen.queue !== undefined)) return undefined;
  const isDone = (check: RequestCheck) =>
    (check.sent === true || (check.state === 'untouched' && isSilent(fleet))) &&
    !isStale(check, target, fleet, clusters);
  return checks.every(isDone) ? seen : undefined;
}

function seenNow(
  fleet: EtcdFleet,
  { heads, list, queue }: { heads: number; list: string | undefined; queue: string | undefined },
): NonNullable<ChecksOutcome['listed']> {
  if (!isKept(list)) return {};
  const seen = { generation: fleet.metadata.generation ?? 0, heads, list };
  if (!wantsQueue(fleet)) return { seen };
  return isKept(queue) ? { seen: { ...seen, queue } } : {};
}

/** An ETag that the status has room for, and a header can bear. */
function isKept(etag: string | undefined): etag is string {
  return etag !== undefined && /^[\x20-\x7e]{1,256}$/.test(etag);
}

/** A queue that can't be read keeps no request from its check. */
async function queueOf(
  { forge, branch }: Open,
  signal: AbortSignal,
): Promise<Queue & { readonly failure?: ForgeFailure }> {
  try {
    return (await forge.queued?.(branch, { signal })) ?? { commits: [] };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return { commits: [], failure: failureOf(error) };
  }
}

function wantsQueue({ spec }: EtcdFleet): boolean {
  return (spec.checks?.mergeQueue ?? fleetDefaults.mergeQueue) === 'Enabled';
}

/** What was read of the forge's list. */
interface Seen {
  readonly requests: readonly ChangeRequest[];
  /** Nothing of it is missing: who is not in it is closed. */
  readonly isWhole: boolean;
}

async function checkOpen({ requests, isWhole }: Seen, open: Open, context: ChecksContext): Promise<Checked> {
  const { fleet, target } = open;
  const remembered = fleet.status?.checks ?? [];
  const { kube, log } = context;
  const now = kube.now() ?? new Date();
  let failure: Checked['failure'];
  const failed = (error: ForgeFailure) => {
    failure ??= failureOf(error);
    log({ fleet: keyOf(fleet), reason: error.reason, problem: error.message }, 'a check went wrong');
  };

  const asking = abortAfter(forgeMs, context.signal);
  const { admitted, withheld, why, unknown } = await admit(requests, open, { signal: asking, now }, failed);
  const heads = headsOf(admitted);
  const due = dueRequests(heads, remembered, target, { ...context, fleet, now });
  const { ended: checked, left, displaced } = await checkDue(due, open, context, failed);
  const ended = [...checked];
  // What the forge did not take the last time.
  const openHeads = new Set([...admitted, ...unknown].map(({ headSha }) => headSha));
  for (const check of remembered) {
    const { state, head } = check;
    if (check.sent || !openHeads.has(head) || state === 'pending' || failure) continue;
    if (
      state === 'withheld' ||
      (state === 'untouched' && isSilent(fleet)) ||
      due.some((one) => one.request.headSha === head)
    )
      continue;
    ended.push({
      head,
      before: check,
      after: { ...check, ...(await told({ ...check, state }, open, context, failed)) },
    });
  }
  const kept = new Set(withheld.map(({ headSha }) => headSha).filter((head) => !openHeads.has(head)));
  const listed = new Set(requests.map(({ headSha }) => headSha));
  const isOver = ({ head, state }: RequestCheck) =>
    (isWhole || listed.has(head)) && !openHeads.has(head) && !(state === 'withheld' && kept.has(head));
  const closed = new Set(remembered.filter(isOver).map(({ head }) => head));
  if (closed.size > 0 || displaced.size > 0) {
    const { forgetReports } = await import('./keep-report.ts');
    const isOpen = (head: string) => !closed.has(head) && !displaced.has(head) && (!isWhole || openHeads.has(head));
    try {
      await forgetReports(kube, fleet, isOpen, context.signal);
    } catch (error) {
      onlyKube(failed)(error);
      // Remembered until their reports are gone.
      closed.clear();
    }
  }
  // A stranger's request takes no verdict from a head that others have as well.
  const apart = withheld.filter(({ headSha }) => !openHeads.has(headSha));
  const waits = failure ? [] : await tellWithheld(apart, open, context);

  const waiting = left + unknown.length;
  if (waiting > 0 || !isWhole) failure ??= waitingFor(waiting, isWhole);
  const change: ChecksChange = (live) => {
    const settled = withEnded(live, ended).filter(({ head }) => !closed.has(head));
    return withWithheld(settled, waits);
  };
  return { change, ...(failure && { failure }), ...(withheld.length > 0 && { withheld: saidOf(withheld, why) }) };
}

function waitingFor(waiting: number, isWhole: boolean): ForgeFailure {
  const some = waiting === 1 ? 'an open request waits' : `${waiting} open requests wait`;
  if (isWhole) return { reason: 'ChecksWaiting', message: `${some} for the next pass` };
  const more = 'the forge has more open requests than one pass reads: each goes on where the one before ended';
  return { reason: 'TooManyRequests', message: waiting > 0 ? `${more}; of those read, ${some}` : more };
}
