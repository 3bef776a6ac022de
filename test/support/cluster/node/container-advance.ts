import { formatSeconds, remainingMs } from './backoff.ts';
import { type ContainerRecord, shouldRestart } from './container-record.ts';
import { endOf, runContainer } from './container-run.ts';
import { pullBackOffMessage } from './container-start.ts';
import { fullName, type PodState, tell } from './pod-state.ts';

/**
 * Does what is next for one container, if anything: starts it, or says why it waits and comes back when the time is up.
 */
export async function advance(state: PodState, record: ContainerRecord, wake: () => void): Promise<void> {
  const { phase, spec } = record;
  const now = Date.now();
  if (phase.kind === 'running') return;
  if (phase.kind === 'terminated') {
    if (record.role === 'init' && phase.terminated.exitCode === 0) return;
    if (!shouldRestart(state.pod, record, phase.terminated.exitCode)) return;
  }
  if (record.retryAt > now) {
    state.timers.set(spec.name, showPullBackOff(record, now) - now + 5, wake);
    return;
  }
  const ended = endOf(record);
  const endedAt = Date.parse(ended?.finishedAt ?? '') || now;
  const remaining = ended ? remainingMs(record.crash, state.node.timing.crash, endedAt, now) : 0;
  if (remaining > 0) {
    showCrashLoop(state, record);
    state.timers.set(spec.name, remaining + 5, wake);
    return;
  }
  await runContainer(state, record, wake);
}

/** The error itself is shown for the first half of the pause, then that there is one. Returns when to look again. */
function showPullBackOff(record: ContainerRecord, now: number): number {
  const { phase, pull, retryAt } = record;
  if (phase.kind !== 'waiting' || phase.reason !== 'ErrImagePull' || !pull) return retryAt;
  const half = retryAt - pull.delayMs / 2;
  if (now < half) return half;
  const message = pullBackOffMessage(record.spec.image ?? '', phase.message);
  record.phase = { kind: 'waiting', reason: 'ImagePullBackOff', message };
  return retryAt;
}

function showCrashLoop(state: PodState, record: ContainerRecord): void {
  const { name } = record.spec;
  if (record.phase.kind === 'terminated') {
    record.last = record.phase.terminated;
    tell(state, 'Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${fullName(state)}`, name);
  }
  const delay = formatSeconds(record.crash?.delayMs ?? 0);
  const message = `back-off ${delay} restarting failed container=${name} pod=${fullName(state)}`;
  record.phase = { kind: 'waiting', reason: 'CrashLoopBackOff', message };
}
