import { createHash } from 'node:crypto';
import { ForgeError } from '../../gitops/forges/error.ts';
import type { CommitStatus } from '../../gitops/forges/forge.ts';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { keyOf, planContext } from '../../reconcile/fleet/names.ts';
import type { Due } from './due.ts';
import type { ChecksContext, Failed, Open } from './open-requests.ts';
import { forgeMs } from './shared-forges.ts';

interface Verdict extends Pick<RequestCheck, 'number' | 'others' | 'head' | 'description'> {
  readonly state: Exclude<RequestCheck['state'], 'withheld'>;
}

/** Shows a verdict on the head; or, where a forge shows it there, on each of its requests. */
export async function told(
  { number, others = [], head, state, description }: Verdict,
  { fleet, forge }: Pick<Open, 'fleet' | 'forge'>,
  { signal, deadline, links }: Pick<ChecksContext, 'signal' | 'deadline' | 'links'>,
  failed: Failed,
): Promise<{ readonly sent?: true }> {
  const isUntouched = state === 'untouched';
  if (isUntouched && isSilent(fleet)) return {};
  // No report is kept of what changes nothing.
  const targetURL = isUntouched ? undefined : links?.check(head);
  const context = planContext(fleet);
  const shown = isUntouched ? 'success' : state;
  const status: CommitStatus = { sha: head, context, state: shown, description, ...(targetURL && { targetURL }) };
  const { sendChanged } = await import('../../gitops/statuses/report.ts');
  const options = { signal, deadline: Math.min(deadline, Date.now() + forgeMs) };
  for (const request of [number, ...(forge.tellsRequests ? others.map((other) => other.number) : [])]) {
    const { failure } = await sendChanged(forge, [{ ...status, request }], [], options);
    if (failure) failed(failure);
    // What a forge will not have (GitLab a status for a fork's commit, GitHub the 1001st) is told once, and not in
    // every pass.
    if (failure && failure.reason !== 'StatusRejected') return {};
  }
  return { sent: true };
}

/** Whether requests that change nothing of the fleet get no status. */
export function isSilent({ spec }: EtcdFleet): boolean {
  return (spec.checks?.untouched ?? fleetDefaults.untouched) === 'Silent';
}

/** Updates one comment on each of the requests in place, found again by its marker; sends it only when it differs. */
export async function commented(
  { request, others, before }: Due,
  report: CheckReport,
  { fleet, forge }: Open,
  { signal }: ChecksContext,
  failed: Failed,
): Promise<Pick<RequestCheck, 'comment' | 'others'>> {
  if ((fleet.spec.checks?.comments ?? fleetDefaults.comments) === 'Disabled' || !forge.comment) return {};
  const [{ reportMarkdown }, { requestReported }] = await Promise.all([
    import('./markdown.ts'),
    import('./check-request.ts'),
  ]);
  const marker = `<!-- etcd-ratchet plan of fleet ${keyOf(fleet)} -->`;
  const asking = abortAfter(forgeMs, signal);
  const comments: { readonly number: string; readonly comment?: string }[] = [];
  for (const one of [request, ...others].filter(({ queued }) => !queued)) {
    const { number } = one;
    const body = reportMarkdown({ ...report, request: requestReported(one) });
    const comment = createHash('sha256').update(body).digest('hex').slice(0, 16);
    try {
      if (lastComment(before, number) !== comment) await forge.comment(one, { marker, body }, { signal: asking });
      comments.push({ number, comment });
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      failed(error);
      comments.push({ number });
    }
  }
  const [{ comment } = {}, ...rest] = comments;
  return { ...(comment !== undefined && { comment }), ...(rest.length > 0 && { others: rest }) };
}

function lastComment(before: RequestCheck | undefined, number: string): string | undefined {
  if (before?.number === number) return before.comment;
  return before?.others?.find((other) => other.number === number)?.comment;
}
