import type { BackOff } from './backoff.ts';
import type { ContainerProcess } from './container.ts';
import type { Prober } from './probes.ts';
import { type ContainerPhase, type ContainerRole, type ContainerView, formatTime } from './status.ts';
import type { Container, ContainerStatus, Pod, Terminated } from './wire.ts';

/** One container of a pod as its worker drives it. */
export type ContainerRecord = ContainerView & {
  phase: ContainerPhase;
  last: Terminated | undefined;
  restarts: number;
  containerID: string;
  imageID: string;
  started: boolean;
  ready: boolean;
  /** How often it was started here; numbers its log files. */
  starts: number;
  process: ContainerProcess | undefined;
  env: ReadonlyMap<string, string>;
  prober: Prober | undefined;
  crash: BackOff | undefined;
  pull: BackOff | undefined;
  /** No attempt to start it before this time. */
  retryAt: number;
  /** Why the node itself is ending it; becomes the reason when the exit code says nothing. */
  killing: boolean;
  /** It held more memory than it may: becomes the reason of its end. */
  outOfMemory: boolean;
  /** Bytes that a fault leaves it, whatever its limit; it stays so over restarts. */
  squeezedTo: number | undefined;
};

export function createRecords(pod: Pod): ContainerRecord[] {
  const { initContainers = [], containers } = pod.spec;
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const waitReason = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const create = (spec: Container, role: ContainerRole) => {
    const before = statuses.find(({ name }) => name === spec.name);
    return createRecord(spec, role, role === 'main' ? waitReason : 'PodInitializing', before);
  };
  return [
    ...initContainers.map((spec) => create(spec, spec.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.map((spec) => create(spec, 'main')),
  ];
}

function createRecord(
  spec: Container,
  role: ContainerRole,
  reason: string,
  before: ContainerStatus | undefined,
): ContainerRecord {
  const lost = before && lostState(before);
  return {
    spec,
    role,
    phase: lost ? { kind: 'terminated', terminated: lost } : { kind: 'waiting', reason },
    last: before?.lastState?.terminated,
    restarts: before?.restartCount ?? 0,
    containerID: lost ? (before?.containerID ?? '') : '',
    imageID: before?.imageID ?? '',
    started: false,
    ready: false,
    starts: before?.restartCount ?? 0,
    process: undefined,
    env: new Map(),
    prober: undefined,
    crash: undefined,
    pull: undefined,
    retryAt: 0,
    killing: false,
    outOfMemory: false,
    squeezedTo: undefined,
  };
}

/**
 * A node that comes back finds none of its processes: what ran is over, without an exit code of its own (kubelet:
 * ContainerStatusUnknown, 137).
 */
function lostState({ state, containerID }: ContainerStatus): Terminated | undefined {
  if (state?.terminated) return state.terminated;
  if (!state?.running) return undefined;
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was restarted',
    ...(state.running.startedAt !== undefined && { startedAt: state.running.startedAt }),
    finishedAt: formatTime(Date.now()),
    ...(containerID !== undefined && { containerID }),
  };
}

export function shouldRestart(pod: Pod, { role }: ContainerRecord, exitCode: number): boolean {
  if (role === 'sidecar') return true;
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (policy === 'Never') return false;
  return exitCode !== 0 || (policy === 'Always' && role === 'main');
}
