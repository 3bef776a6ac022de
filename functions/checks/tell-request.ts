import { createHash } from 'node:crypto';
import { ForgeError } from '../../gitops/forges/error.ts';
import type { ChangeRequest, CommitStatus } from '../../gitops/forges/forge.ts';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { keyOf, planContext } from '../../reconcile/fleet/names.ts';
import type { ChecksContext, Failed, Open } from './open-requests.ts';

/** Milliseconds that a forge has for one answer. */
export const forgeMs = 8_000;

/** Shows a verdict on the request's head. */
export async function told(
  { number, head, state, description }: Pick<RequestCheck, 'number' | 'head' | 'state' | 'description'>,
  { fleet, forge }: Pick<Open, 'fleet' | 'forge'>,
  { signal, deadline, links }: Pick<ChecksContext, 'signal' | 'deadline' | 'links'>,
  failed: Failed,
): Promise<{ readonly sent?: true }> {
  if (state === 'untouched') return {};
  const targetURL = links?.check(head);
  const context = planContext(fleet);
  const status: CommitStatus = {
    sha: head,
    context,
    state,
    description,
    request: number,
    ...(targetURL && { targetURL }),
  };
  const { sendChanged } = await import('../../gitops/statuses/report.ts');
  const { failure } = await sendChanged(forge, [status], [], {
    signal,
    deadline: Math.min(deadline, Date.now() + forgeMs),
  });
  if (failure) failed(failure);
  // What a forge will not have (GitLab a status for a fork's commit, GitHub the 1001st) is told once, and not in every
  // pass.
  return !failure || failure.reason === 'StatusRejected' ? { sent: true } : {};
}

/** Updates one comment in place, found again by its marker, and sends it only when it differs. */
export async function commented(
  request: ChangeRequest,
  report: CheckReport,
  before: RequestCheck | undefined,
  { fleet, forge }: Open,
  { signal }: ChecksContext,
  failed: Failed,
): Promise<{ readonly comment?: string }> {
  if ((fleet.spec.checks?.comments ?? fleetDefaults.comments) === 'Disabled' || !forge.comment) return {};
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
