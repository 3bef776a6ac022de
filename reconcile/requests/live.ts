import { behaviourIn, type Requests, type Subject } from './define.ts';
import type { Program, Request, SideBySide } from './program.ts';

/**
 * Carries a program out against the API server and etcd. Every write is fenced by the facts of its request, and of
 * `live`. @throws {StepError | KubeError | EtcdError}
 */
export function runLive<A extends Subject, R>(program: Program<R>, requests: Requests<A>, live: A['live']): Promise<R> {
  return run(program, ({ kind, ask }) => behaviourIn(requests, kind).live(ask, live));
}

/** Runs it to its end. @throws the error of `perform`; of requests side by side the first one's, once all ended */
async function run<R>(program: Program<R>, perform: (request: Request) => Promise<unknown>): Promise<R> {
  let step = program.next();
  while (!step.done) {
    const answer = 'sideBySide' in step.value ? allOf(step.value, perform) : perform(step.value);
    step = await answer.then(
      (answered) => program.next(answered),
      (error: unknown) => program.throw(error),
    );
  }
  return step.value;
}

async function allOf({ sideBySide }: SideBySide, perform: (request: Request) => Promise<unknown>) {
  const ended = await Promise.allSettled(sideBySide.map((program) => run(program, perform)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
