import { createHash } from 'node:crypto';
import { GitError } from '../../gitops/error.ts';
import { ForgeError } from '../../gitops/forges/error.ts';
import type { ChangeRequest, CommitStatus, Forge } from '../../gitops/forges/forge.ts';
import type { GitConnection } from '../../gitops/http.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet, RequestCheck } from '../../manifests/api/etcd-fleet.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import { type Kube, KubeError } from '../../reconcile/kube.ts';
import { openFleetForge } from '../fleet-forge.ts';
import type { Log } from '../log.ts';
import type { CheckContext } from './check-request.ts';
import { type Due, dueRequests, lookOf, oneForEachHead } from './due.ts';

export interface ChecksContext extends Omit<CheckContext, 'onTouched'> {
  /** With our own rights; checks get it without any right to write. */
  readonly kube: Kube;
  readonly log: Log;
  /** When to have stopped, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly links?: PageLinks | undefined;
  /** Writes down what is known so far: a request that ends the process must not be the first of the next one as well. */
  readonly note?: (checks: readonly RequestCheck[]) => Promise<void>;
}

export interface ChecksOutcome {
  /** To remember: one for each open request that was checked. */
  readonly checks: readonly RequestCheck[];
  /** What a person should know; absent: every open request is checked. */
  readonly failure?: { readonly reason: string; readonly message: string };
}

/** Requests of one fleet that are checked in one pass; the next pass goes on. */
const mostPerPass = 10;
/** Requests that are remembered. */
const mostRemembered = 100;
/** Milliseconds that one request may take: a hostile one must not have the time of the others. */
const checkMs = 30_000;
/** Milliseconds below which none is begun. */
const leastMs = 1_000;
const forgeMs = 8_000;
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
    return { checks: remembered, failure: { reason: error.reason, message: error.message } };
  }
}

interface Open {
  readonly fleet: EtcdFleet;
  readonly forge: Forge;
  readonly target: string;
  readonly branch: string;
  readonly requests: readonly ChangeRequest[];
  readonly more: boolean;
  readonly remembered: readonly RequestCheck[];
}

async function checkOpen(open: Open, context: ChecksContext): Promise<ChecksOutcome> {
  const { fleet, target, requests, more, remembered } = open;
  const { kube, log, signal, clusters, deadline } = context;
  const heads = new Map(oneForEachHead(requests).map((request) => [request.headSha, request]));
  const checks = new Map(remembered.filter(({ head }) => heads.has(head)).map((check) => [check.head, check]));
  const due = dueRequests(requests, remembered, target, { fleet, clusters });
  let failure: ChecksOutcome['failure'];
  const failed = (error: { readonly reason: string; readonly message: string }) => {
    failure ??= { reason: error.reason, message: error.message };
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
  if (remembered.some(({ head }) => !heads.has(head))) {
    const { forgetReports } = await import('./keep-report.ts');
    await forgetReports(kube, fleet, new Set(heads.keys()), signal).catch(onlyKube(failed));
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

function waiting(left: number): NonNullable<ChecksOutcome['failure']> {
  return {
    reason: 'ChecksWaiting',
    message: `${left === 1 ? 'an open request waits' : `${left} open requests wait`} for the next pass`,
  };
}

type Failed = (error: { readonly reason: string; readonly message: string }) => void;

/** `undefined`: something is wrong that the next request would meet as well. */
async function checkOne(
  { request, before }: Due,
  open: Open,
  git: GitConnection,
  context: ChecksContext,
  failed: Failed,
): Promise<RequestCheck | undefined> {
  const { fleet, target, branch } = open;
  const { kube, log, clusters, deadline } = context;
  const { number, headSha: head } = request;
  const facts = { number, head, target };
  const within = AbortSignal.timeout(Math.min(checkMs, Math.max(1, deadline - Date.now() - leastMs / 2)));
  const signal = AbortSignal.any([context.signal, within]);
  // A head that has a verdict keeps it until there is a newer one.
  const onTouched = async () => {
    if (before && before.state !== 'pending') return;
    const description = `being checked, merged with ${branch}`.slice(0, 140);
    await told({ ...facts, state: 'pending', description }, open, context, failed);
  };
  const question = { request, head, target, targetBranch: branch };
  const started = performance.now();
  // A pass that finds every request checked loads nothing of this.
  const [{ checkRequest }, { dryRunOnly }, { keepReport }] = await Promise.all([
    import('./check-request.ts'),
    import('../read-only.ts'),
    import('./keep-report.ts'),
  ]);
  try {
    const asked = { ...context, kube: dryRunOnly(kube), signal, onTouched };
    const { report: found, touched } = await checkRequest(fleet, question, git, asked);
    log({ fleet: keyOf(fleet), request: number, head, ms: Math.round(performance.now() - started) }, found.description);
    const isTold = before !== undefined && before.state !== 'untouched';
    if (found.state === 'untouched' && !isTold)
      return { ...facts, state: 'untouched', description: found.description, ...lookedAt(fleet, clusters, []) };
    // What the forge shows of it (that it could not be checked, or what has been merged since) must not stay.
    const report: CheckReport = found.state === 'untouched' ? { ...found, state: 'success' } : found;
    await keepReport(kube, fleet, report, context.signal).catch(onlyKube(failed));
    const { state, description } = report;
    const check = { ...facts, state, description, ...lookedAt(fleet, clusters, touched) };
    const isSame = before?.sent && before.state === state && before.description === description;
    const sent = isSame ? { sent: true } : await told(check, open, context, failed);
    return { ...check, ...sent, ...(await commented(request, report, before, open, context, failed)) };
  } catch (error) {
    if (!(error instanceof GitError || error instanceof KubeError) && !signal.aborted) throw error;
    if (!within.aborted) {
      if (error instanceof GitError || error instanceof KubeError) failed(error);
      return undefined;
    }
    const check = {
      ...facts,
      state: 'error',
      description: 'could not be checked in the time there is for one; tried again later',
    } as const;
    return { ...check, ...(await told(check, open, context, failed)) };
  }
}

function lookedAt(
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
  touched: readonly string[],
): Pick<RequestCheck, 'seen' | 'clusters'> {
  const few = touched.length <= 10 ? touched : undefined;
  return { seen: lookOf(fleet, clusters, few), ...(few && { clusters: [...few] }) };
}

async function told(
  { number, head, state, description }: Pick<RequestCheck, 'number' | 'head' | 'state' | 'description'>,
  { fleet, forge }: Pick<Open, 'fleet' | 'forge'>,
  { signal, deadline, links }: Pick<ChecksContext, 'signal' | 'deadline' | 'links'>,
  failed: Failed,
): Promise<{ readonly sent?: true }> {
  if (state === 'untouched') return {};
  const targetUrl = links?.check(head);
  const context = `etcd-ratchet/${fleet.metadata.name}/plan`;
  const status: CommitStatus = {
    sha: head,
    context,
    state,
    description,
    request: number,
    ...(targetUrl && { targetUrl }),
  };
  const { sendChanged } = await import('../../gitops/statuses/report.ts');
  const { failure } = await sendChanged(forge, [status], [], {
    signal,
    deadline: Math.min(deadline, Date.now() + forgeMs),
  });
  if (failure) failed(failure);
  // What a forge will not have (GitLab a status for a fork's commit, GitHub the 1001st) is told once, and not in every pass.
  return !failure || failure.reason === 'StatusRejected' ? { sent: true } : {};
}

/** Kept up to date, never repeated: it begins with a marker by which it is found again, and is sent only when it differs. */
async function commented(
  request: ChangeRequest,
  report: CheckReport,
  before: RequestCheck | undefined,
  { fleet, forge }: Open,
  { signal }: ChecksContext,
  failed: Failed,
): Promise<{ readonly comment?: string }> {
  if (!fleet.spec.checks?.comment || !forge.comment) return {};
  const { reportMarkdown } = await import('./markdown.ts');
  const body = reportMarkdown(report);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  if (before?.comment === hash) return { comment: hash };
  const marker = `<!-- etcd-ratchet plan of fleet ${keyOf(fleet)} -->`;
  try {
    const asking = AbortSignal.any([signal, AbortSignal.timeout(forgeMs)]);
    await forge.comment(request, { marker, body }, { signal: asking });
    return { comment: hash };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    failed(error);
    return {};
  }
}

function onlyKube(failed: Failed): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof KubeError)) throw error;
    failed({ reason: 'ReportNotKept', message: error.message });
  };
}
