import { GitError } from '../../gitops/git/error.ts';
import type { GitSource } from '../../gitops/git/source.ts';
import { abortAfter, firstAbort } from '../../manifests/abort-after.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import { type Due, lookOf, numbersKnown } from './due.ts';
import { heldMs } from './ledger.ts';
import { type ChecksContext, type Failed, type Open, onlyKube } from './open-requests.ts';
import { commented, told } from './tell-request.ts';

/** Milliseconds that one request may take: a hostile one must not have the time of the others. */
const checkMs = 30_000;
/** Milliseconds. After that another invocation may count this one as dead: a late word of ours must not follow. */
const tellingMs = heldMs - 5_000;
/** Milliseconds below which none is begun. */
export const leastMs = 1_000;

/**
 * Checks one request, keeps the report, and tells the forge. `undefined`: something that the next request would meet
 * too.
 * @param begun when it was made ours, in milliseconds since the epoch
 */
export async function checkOne(
  due: Due,
  begun: number,
  open: Open,
  source: GitSource,
  pass: ChecksContext,
  failed: Failed,
): Promise<RequestCheck | undefined> {
  const { request, others, before } = due;
  const { fleet, forge, target, branch } = open;
  const context = { ...pass, deadline: Math.min(pass.deadline, begun + tellingMs) };
  const { kube, log, clusters, deadline } = context;
  const { number, headSha: head, fork } = request;
  const alike = others.map((other) => ({ number: other.number }));
  const facts = { number, head, target, ...(fork && { fork }), ...(alike.length > 0 && { others: alike }) };
  const within = abortAfter(Math.min(checkMs, Math.max(1, deadline - Date.now() - leastMs / 2)));
  const signal = firstAbort(context.signal, within);
  // A head that has a verdict keeps it until there is a newer one.
  const onTouched = async () => {
    if (before && before.state !== 'pending') return;
    const description = `being checked, merged with ${branch}`.slice(0, 140);
    await told({ ...facts, state: 'pending', description }, open, context, failed);
  };
  const isKnown = !forge.tellsRequests || (before && alike.every((one) => numbersKnown(before).includes(one.number)));
  const toldOnce = async (check: Parameters<typeof told>[0]): Promise<Pick<RequestCheck, 'sent'>> => {
    const isSame = before?.state === check.state && before.description === check.description;
    return isKnown && isSame && before.sent ? { sent: true } : told(check, open, context, failed);
  };
  const question = { request, head, target, targetBranch: branch };
  const started = performance.now();
  // A pass that finds every request checked loads nothing of this.
  const [{ checkRequest }, { dryRunOnly }, { keepReport }] = await Promise.all([
    import('./check-request.ts'),
    import('../pass/read-only.ts'),
    import('./keep-report.ts'),
  ]);
  try {
    const asked = { ...context, kube: dryRunOnly(kube), signal, onTouched };
    const { report: found, touched } = await checkRequest(fleet, question, source, asked);
    log({ fleet: keyOf(fleet), request: number, head, ms: Math.round(performance.now() - started) }, found.description);
    const isTold = before !== undefined && before.state !== 'untouched';
    if (found.state === 'untouched' && !isTold) {
      const { state, description } = found;
      const check = { ...facts, state, description, ...lookedAt(fleet, clusters, []) };
      return { ...check, ...(await toldOnce(check)) };
    }
    // What the forge shows of it (that it could not be checked, or what has been merged since) must not stay.
    const report: CheckReport = found.state === 'untouched' ? { ...found, state: 'success' } : found;
    await keepReport(kube, fleet, report, context.signal).catch(onlyKube(failed));
    const { state, description } = report;
    const check = { ...facts, state, description, ...lookedAt(fleet, clusters, touched) };
    return { ...check, ...(await toldOnce(check)), ...(await commented(due, report, open, context, failed)) };
  } catch (error) {
    if (!(error instanceof GitError || error instanceof KubeError) && !signal.aborted) throw error;
    if (!within.aborted) {
      if (error instanceof GitError || error instanceof KubeError) failed(error);
      return undefined;
    }
    const check = {
      ...facts,
      state: 'error',
      description: 'could not be checked in the time for one request; tried again later',
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
