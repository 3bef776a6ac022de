import type { PodPlace } from './downward.ts';
import type { Container, ContainerState, ContainerStatus, Pod, PodCondition, PodStatus, Terminated } from './wire.ts';

export type ContainerRole = 'init' | 'sidecar' | 'main';

export type ContainerPhase =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string | undefined }
  | { readonly kind: 'running'; readonly startedAt: number }
  | { readonly kind: 'terminated'; readonly terminated: Terminated };

/** The record of one container; the worker changes it, the status is shaped from it. */
export type ContainerView = {
  readonly spec: Container;
  readonly role: ContainerRole;
  readonly phase: ContainerPhase;
  readonly last: Terminated | undefined;
  readonly restarts: number;
  readonly containerID: string;
  readonly imageID: string;
  readonly started: boolean;
  readonly ready: boolean;
};

export type PodView = {
  readonly pod: Pod;
  readonly place: PodPlace | undefined;
  readonly startedAt: number;
  readonly containers: readonly ContainerView[];
  /** Its containers are not started again: it is being deleted, or has been. */
  readonly ending: boolean;
};

/** The status that kubelet would report; `previous` lends its transition times. */
export function shapePodStatus(view: PodView, previous: PodStatus | undefined, now: Date): PodStatus {
  const { pod, place, containers } = view;
  const phase = podPhase(view);
  const generation = pod.metadata.generation;
  const of = (...roles: ContainerRole[]) => containers.filter(({ role }) => roles.includes(role));
  const inits = of('init', 'sidecar');
  return {
    phase,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(place?.hostIPs[0] && { hostIP: place.hostIPs[0], hostIPs: place.hostIPs.map((ip) => ({ ip })) }),
    ...(place?.podIPs[0] && { podIP: place.podIPs[0], podIPs: place.podIPs.map((ip) => ({ ip })) }),
    startTime: formatTime(view.startedAt),
    conditions: conditions(view, phase, previous, now),
    ...(inits.length > 0 && { initContainerStatuses: inits.map(containerStatus) }),
    containerStatuses: of('main').map(containerStatus),
  };
}

/** kubelet's getPhase (pkg/kubelet/kubelet_pods.go): init containers first, then a count over the others. */
export function podPhase({ pod, containers, ending }: PodView): string {
  const policy = pod.spec.restartPolicy ?? 'Always';
  const inits = containers.filter(({ role }) => role === 'init');
  const initFailed = inits.some((init) => exitCode(init) !== undefined && exitCode(init) !== 0);
  const main = containers.filter(({ role }) => role === 'main');
  const running = main.filter(({ phase }) => phase.kind === 'running').length;
  const codes = main.map((container) => stopCode(container)).filter((code) => code !== undefined);

  if (initFailed && (policy === 'Never' || ending)) return 'Failed';
  if (!initialized(containers) && running === 0 && codes.length === 0) return ending ? 'Failed' : 'Pending';
  if (running + codes.length < main.length) return ending && running === 0 ? 'Failed' : 'Pending';
  if (running > 0) return 'Running';
  if (codes.every((code) => code === 0) && (ending || policy !== 'Always')) return 'Succeeded';
  return ending || policy === 'Never' ? 'Failed' : 'Running';
}

export function initialized(containers: readonly ContainerView[]): boolean {
  return containers.every((container) => {
    if (container.role === 'main') return true;
    return container.role === 'sidecar' ? container.started : exitCode(container) === 0;
  });
}

function exitCode({ phase }: ContainerView): number | undefined {
  return phase.kind === 'terminated' ? phase.terminated.exitCode : undefined;
}

/** A container that waits for its restart counts as stopped. */
function stopCode(container: ContainerView): number | undefined {
  return container.phase.kind === 'waiting' ? container.last?.exitCode : exitCode(container);
}

function containerStatus(view: ContainerView): ContainerStatus {
  const { spec, phase, last, restarts, containerID, imageID, started, ready } = view;
  return {
    name: spec.name,
    image: spec.image ?? '',
    imageID,
    ...(containerID !== '' && { containerID }),
    state: containerState(phase),
    lastState: last ? { terminated: last } : {},
    restartCount: restarts,
    started,
    ready,
  };
}

function containerState(phase: ContainerPhase): ContainerState {
  switch (phase.kind) {
    case 'waiting':
      return { waiting: { reason: phase.reason, ...(phase.message !== undefined && { message: phase.message }) } };
    case 'running':
      return { running: { startedAt: formatTime(phase.startedAt) } };
    case 'terminated':
      return { terminated: phase.terminated };
  }
}

function conditions(view: PodView, phase: string, previous: PodStatus | undefined, now: Date): PodCondition[] {
  const { pod, place, containers } = view;
  const long = containers.filter(({ role }) => role !== 'init');
  const finished = phase === 'Succeeded' || phase === 'Failed';
  const completed = phase === 'Succeeded' ? { reason: 'PodCompleted' } : finished ? { reason: 'PodFailed' } : undefined;
  const waiting = containers.filter((container) => container.role !== 'main' && !initialized([container]));
  const unready = long.filter(({ ready }) => !ready);
  const gates = (pod.spec.readinessGates ?? []).filter(({ conditionType }) => {
    return pod.status?.conditions?.find(({ type }) => type === conditionType)?.status !== 'True';
  });
  const containersReady = completed ?? because(unready, 'ContainersNotReady', 'containers with unready status');
  const gated = gates.length > 0 && {
    reason: 'ReadinessGatesNotReady',
    message: gates
      .map(({ conditionType }) => `corresponding condition of pod readiness gate "${conditionType}" does not exist.`)
      .join(', '),
  };
  const wanted: [string, { reason?: string; message?: string } | undefined][] = [
    ['PodReadyToStartContainers', place?.podIPs[0] && !finished && !view.ending ? undefined : {}],
    [
      'Initialized',
      phase === 'Succeeded'
        ? undefined
        : because(waiting, 'ContainersNotInitialized', 'containers with incomplete status'),
    ],
    ['Ready', containersReady ?? (gated || undefined)],
    ['ContainersReady', containersReady],
  ];
  return wanted.map(([type, obstacle]) => {
    const status = obstacle ? 'False' : 'True';
    const before = (previous ?? pod.status)?.conditions?.find((condition) => condition.type === type);
    return {
      type,
      status,
      lastProbeTime: null as unknown as string,
      lastTransitionTime:
        before?.status === status && before.lastTransitionTime ? before.lastTransitionTime : formatTime(now),
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      // A strategic merge keeps what is left out, so a reason that is over must be taken away.
      reason: obstacle?.reason ?? (null as unknown as string),
      message: obstacle?.message ?? (null as unknown as string),
    };
  });
}

function because(containers: readonly ContainerView[], reason: string, words: string) {
  if (containers.length === 0) return undefined;
  return { reason, message: `${words}: [${containers.map(({ spec }) => spec.name).join(' ')}]` };
}

/** metav1.Time: whole seconds. */
export function formatTime(time: number | Date): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
