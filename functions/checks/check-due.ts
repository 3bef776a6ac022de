import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { timestamp } from '../../reconcile/time/timestamp.ts';
import { checkOne, leastMs } from './check-one.ts';
import { chosenOf, type Due } from './due.ts';
import { type Entry, withBegun, withEnded } from './ledger.ts';
import type { ChecksContext, Failed, Open } from './open-requests.ts';

export interface DueChecked {
  /** What came of them, as far as it is not written down yet. */
  readonly ended: readonly Entry[];
  /** How many wait for the next pass. */
  readonly left: number;
  /** Heads that are remembered no more, for want of room. */
  readonly displaced: ReadonlySet<string>;
}

/**
 * Checks one request after the other. Each is recorded as begun first, together with the last one's result; requests
 * that another invocation has begun are left to it. @throws {GitError | KubeError} if the repository can't be asked
 */
export async function checkDue(
  due: readonly Due[],
  open: Open,
  context: ChecksContext,
  failed: Failed,
): Promise<DueChecked> {
  const displaced = new Set<string>();
  if (due.length === 0) return { ended: [], left: 0, displaced };
  const { kube, signal, deadline, record } = context;
  const { fleetSource } = await import('../pass/fleet-git.ts');
  const source = await fleetSource(open.fleet, { kube, signal });
  let ended: readonly Entry[] = [];
  let left = due.length;
  for (const one of chosenOf(due)) {
    if (signal.aborted || deadline - Date.now() < leastMs) break;
    const { before, request } = one;
    const head = request.headSha;
    const startedAt = Date.now();
    const begun: { check?: RequestCheck | undefined } = {};
    const isWritten = await record((live) => {
      const settled = withEnded(live, ended);
      const after = begunCheck(one, open.target, kube.now() ?? new Date());
      const whole = withBegun(settled, { head, before, after });
      begun.check = whole && after;
      for (const check of settled)
        if (whole && !whole.some((kept) => kept.head === check.head)) displaced.add(check.head);
      return whole ?? settled;
    });
    if (!isWritten) {
      failed({
        reason: 'ChecksNotWritten',
        message: 'the status could not be written, so no check is begun',
      });
      break;
    }
    ended = [];
    left -= 1;
    if (!begun.check) continue;
    const check = await checkOne(one, startedAt, open, source, context, failed);
    ended = [{ head, before: begun.check, after: check ? { ...check, number: request.number } : before }];
    if (check) continue;
    left += 1;
    break;
  }
  return { ended, left, displaced };
}

function begunCheck({ request, before }: Due, target: string, now: Date): RequestCheck {
  const { number, headSha: head, fork } = request;
  const { sent: _, fork: __, ...known } = before ?? { head };
  const facts = { description: 'its check was begun', ...known, number, head, target, ...(fork && { fork }) };
  return { ...facts, state: 'pending', begunAt: timestamp(now) };
}
