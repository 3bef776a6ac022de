import type { Kube } from '../interfaces/kube.ts';
import { StepError } from '../requests/refusals.ts';

/**
 * The same API server, closed to writes once the lease's deadline has passed.
 *
 * The signal alone is not enough: a process that was frozen and wakes runs the continuation of its last answer before
 * any timer fires, and that continuation may write. The clock is monotonic and goes on while a process is stopped.
 */
export function fenced(kube: Kube, signal: AbortSignal, deadline: number): Kube {
  const guard = deadlineGuard(signal, deadline);
  return {
    ...kube,
    list: kube.list.bind(kube),
    get: kube.get.bind(kube),
    watch: kube.watch.bind(kube),
    create: guard(kube.create.bind(kube)) as Kube['create'],
    update: guard(kube.update.bind(kube)) as Kube['update'],
    updateStatus: guard(kube.updateStatus.bind(kube)) as Kube['updateStatus'],
    dryRun: kube.dryRun.bind(kube),
    apply: guard(kube.apply.bind(kube)) as Kube['apply'],
    delete: guard(kube.delete.bind(kube)),
    evict: guard(kube.evict.bind(kube)),
    as: (serviceAccount) => fenced(kube.as(serviceAccount), signal, deadline),
    bounded: () => fenced(kube.bounded(), signal, deadline),
    leftOut: kube.leftOut.bind(kube),
    now: kube.now.bind(kube),
    requests: kube.requests.bind(kube),
    close: kube.close.bind(kube),
  };
}

/**
 * Around what changes something: once the deadline has passed, it is not called any more. @throws {StepError}
 * `ClaimEnded`
 */
export function deadlineGuard(signal: AbortSignal, deadline: number) {
  return <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (!signal.aborted && performance.now() <= deadline) return call(...args);
      throw new StepError({
        class: 'retryable',
        reason: 'ClaimEnded',
        message: 'the lease ended before the step was done',
      });
    };
}
