import { nextBackOff } from './backoff.ts';
import { type ContainerProcess, type Exit, StartError } from './container.ts';
import { kill, runHook } from './container-kill.ts';
import type { ContainerRecord } from './container-record.ts';
import { lastWords, launch, NotStarted } from './container-start.ts';
import { holdMemoryLimit } from './memory-limit.ts';
import { graceMs, type PodState, placeOf, publish, startContext, tell } from './pod-state.ts';
import { type ProbeKind, startProbes } from './probes.ts';
import { formatTime } from './status.ts';
import type { Terminated } from './wire.ts';

/**
 * Starts the container, now; follows it until it ends. `wake` is called whenever the pod's next step may have changed.
 */
export async function runContainer(state: PodState, record: ContainerRecord, wake: () => void): Promise<void> {
  const ended = endOf(record);
  try {
    await launch(startContext(state), record);
  } catch (error) {
    noteFailure(state, record, error, ended);
    wake();
    return;
  }
  const running = record.process;
  if (!running) throw new Error(`container ${record.spec.name} was launched without a process`);
  if (ended) countRestart(state, record, ended);
  const since = Date.now();
  record.retryAt = 0;
  record.killing = false;
  record.outOfMemory = false;
  holdMemoryLimit(record, running);
  record.phase = { kind: 'running', startedAt: since };
  if (record.spec.lifecycle?.postStart === undefined) becomeStarted(record);
  tell(state, 'Normal', 'Started', `Started container ${record.spec.name}`, record.spec.name);
  const context = startContext(state);
  void running.exited.then((exit) => {
    if (record.process !== running) return;
    const words = state.mode === 'off' ? undefined : lastWords(context, record, exit.code);
    noteEnd(state, record, exit, since, words);
    wake();
  });
  publish(state);
  await postStart(state, record, running);
  if (record.process === running) probe(state, record, running, wake);
}

/** How the last run ended, if there was one. */
export function endOf({ phase, last }: ContainerRecord): Terminated | undefined {
  return phase.kind === 'terminated' ? phase.terminated : last;
}

function countRestart({ node }: PodState, record: ContainerRecord, ended: Terminated): void {
  record.last = ended;
  record.restarts++;
  record.crash = nextBackOff(record.crash, node.timing.crash, Date.now());
}

function becomeStarted(record: ContainerRecord): void {
  record.started = record.spec.startupProbe === undefined;
  record.ready = record.started && record.spec.readinessProbe === undefined;
}

function noteFailure(state: PodState, record: ContainerRecord, error: unknown, ended: Terminated | undefined): void {
  const now = Date.now();
  const { name } = record.spec;
  if (error instanceof StartError) {
    // The runtime made the container and could not run it: it counts as started and failed.
    record.starts++;
    if (ended) countRestart(state, record, ended);
    const message = `failed to create containerd task: ${error.message}`;
    const time = formatTime(now);
    const terminated = { exitCode: 128, reason: 'StartError', message, startedAt: time, finishedAt: time };
    record.phase = { kind: 'terminated', terminated };
    tell(state, 'Warning', 'Failed', `Error: ${message}`, name);
    return;
  }
  if (ended) record.last = ended;
  if (error instanceof NotStarted) {
    record.retryAt = now + error.retryInMs;
    const waits = error.reason === 'ContainerCreating';
    record.phase = { kind: 'waiting', reason: error.reason, message: waits ? undefined : error.message };
    if (!waits) tell(state, 'Warning', 'Failed', `Error: ${error.reason}: ${error.message}`, name);
    return;
  }
  // The API server did not answer, a volume is not as it should be: not the container's doing.
  record.retryAt = now + 1000;
  const message = error instanceof Error ? error.message : String(error);
  record.phase = { kind: 'waiting', reason: 'CreateContainerError', message };
}

function noteEnd(state: PodState, record: ContainerRecord, exit: Exit, since: number, words: string | undefined): void {
  record.process = undefined;
  record.prober?.stop();
  record.prober = undefined;
  record.started = false;
  record.ready = false;
  const now = Date.now();
  record.phase = {
    kind: 'terminated',
    terminated: {
      exitCode: exit.code,
      reason: record.outOfMemory ? 'OOMKilled' : exit.code === 0 ? 'Completed' : 'Error',
      ...(words !== undefined && { message: words }),
      startedAt: formatTime(since),
      finishedAt: formatTime(now),
      containerID: record.containerID,
    },
  };
  // A container that ran this long is not in a loop of crashes.
  if (now - since > 2 * state.node.timing.crash.capMs) record.crash = undefined;
  publish(state);
}

async function postStart(state: PodState, record: ContainerRecord, running: ContainerProcess): Promise<void> {
  const hook = record.spec.lifecycle?.postStart;
  if (!hook) return;
  const outcome = await runHook(state, record, running, hook, graceMs(state));
  if (record.process !== running) return;
  if (outcome.ok) {
    becomeStarted(record);
    return;
  }
  tell(state, 'Warning', 'FailedPostStartHook', `PostStartHook failed: ${outcome.message}`, record.spec.name);
  void kill(state, record, graceMs(state));
}

function probe(state: PodState, record: ContainerRecord, { pid }: ContainerProcess, wake: () => void): void {
  const target = { container: record.spec, podIP: placeOf(state).podIPs[0] ?? '', pid, env: record.env };
  record.prober = startProbes(target, {
    verdict: (kind, ok) => {
      if (record.phase.kind !== 'running' || state.mode === 'off') return;
      applyVerdict(state, record, kind, ok);
      publish(state);
      wake();
    },
    failed: (kind, message) => {
      const capital = kind.charAt(0).toUpperCase() + kind.slice(1);
      tell(state, 'Warning', 'Unhealthy', `${capital} probe failed: ${message}`, record.spec.name);
    },
  });
}

function applyVerdict(state: PodState, record: ContainerRecord, kind: ProbeKind, ok: boolean): void {
  const { name, startupProbe, livenessProbe, readinessProbe } = record.spec;
  if (kind === 'readiness') {
    record.ready = ok;
  } else if (ok) {
    if (kind === 'startup') {
      record.started = true;
      record.ready = readinessProbe === undefined;
    }
  } else if (!record.killing) {
    tell(state, 'Normal', 'Killing', `Container ${name} failed ${kind} probe, will be restarted`, name);
    const seconds = (kind === 'startup' ? startupProbe : livenessProbe)?.terminationGracePeriodSeconds;
    void kill(state, record, seconds === undefined ? graceMs(state) : seconds * 1000);
  }
}
