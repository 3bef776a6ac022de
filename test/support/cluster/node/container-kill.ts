import type { ContainerProcess } from './container.ts';
import type { ContainerRecord } from './container-record.ts';
import { type Handler, type Outcome, runHandler } from './handlers.ts';
import { leastGraceMs, type PodState, placeOf } from './pod-state.ts';

/** preStop, SIGTERM, and SIGKILL when the grace, which covers both, is over. Resolves when the container has ended. */
export async function kill(state: PodState, record: ContainerRecord, grace: number): Promise<void> {
  const running = record.process;
  if (!running) return;
  if (!record.killing) {
    record.killing = true;
    const deadline = Date.now() + grace;
    const hook = record.spec.lifecycle?.preStop;
    if (hook && grace > 0) await runHook(state, record, running, hook, grace);
    running.signal('SIGTERM');
    const timer = setTimeout(() => running.signal('SIGKILL'), Math.max(leastGraceMs, deadline - Date.now()));
    void running.exited.then(() => clearTimeout(timer));
  }
  await running.exited;
}

/** Main containers first, sidecars after them, all within the one grace period. */
export async function killAll(state: PodState, grace: number): Promise<void> {
  const deadline = Date.now() + grace;
  const left = () => Math.max(0, deadline - Date.now());
  const sidecars = state.records.filter(({ role }) => role === 'sidecar');
  const others = state.records.filter(({ role }) => role !== 'sidecar');
  for (const { prober } of state.records) prober?.onlyReadiness();
  await Promise.all(others.map((record) => kill(state, record, left())));
  await Promise.all(sidecars.map((record) => kill(state, record, left())));
}

/** A hook is over when it is done, out of time, or its container has ended. */
export function runHook(
  state: PodState,
  record: ContainerRecord,
  running: ContainerProcess,
  hook: Handler,
  timeoutMs: number,
): Promise<Outcome> {
  const ok: Outcome = { ok: true };
  const target = { container: record.spec, podIP: placeOf(state).podIPs[0] ?? '', pid: running.pid, env: record.env };
  const { sleep } = hook;
  const work = sleep
    ? new Promise<Outcome>((resolve) => setTimeout(() => resolve(ok), Math.min(timeoutMs, sleep.seconds * 1000)))
    : runHandler(hook, target, timeoutMs);
  return Promise.race([work, running.exited.then(() => ok)]);
}
