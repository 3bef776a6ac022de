import type { ContainerRecord } from './container-record.ts';
import type { StartContext } from './container-start.ts';
import type { NodeContext } from './context.ts';
import type { PodPlace } from './downward.ts';
import type { PodSandbox } from './network.ts';
import { type PodView, podPhase, shapePodStatus } from './status.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Timers } from './timers.ts';
import type { PodVolumes } from './volumes.ts';
import type { Pod } from './wire.ts';

/** What the parts of one pod's worker share. */
export type PodState = {
  readonly node: NodeContext;
  readonly podDir: string;
  readonly records: readonly ContainerRecord[];
  readonly volumes: PodVolumes;
  readonly writer: StatusWriter;
  readonly timers: Timers;
  readonly startedAt: number;
  /** As the API server last had it. */
  pod: Pod;
  sandbox: PodSandbox | undefined;
  /** `off`: the node lost its power. */
  mode: 'running' | 'ending' | 'off';
  /** The API server has it no more. */
  gone: boolean;
  done: boolean;
};

/** kubelet gives even a pod that is deleted by force this long. */
export const leastGraceMs = 2000;

export function placeOf({ sandbox, node }: PodState): PodPlace {
  return { podIPs: sandbox?.ips ?? [], hostIPs: node.addresses, nodeName: node.name };
}

export function graceMs({ pod, gone }: PodState): number {
  if (gone) return leastGraceMs;
  return (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
}

/** For messages, as kubelet writes it. */
export function fullName({ pod: { metadata } }: PodState): string {
  return `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
}

export function tell(state: PodState, type: 'Normal' | 'Warning', reason: string, message: string, container?: string) {
  if (!state.gone) state.node.events(state.pod, type, reason, message, container);
}

/** @throws Error before the pod has its network. */
export function startContext(state: PodState): StartContext {
  const { node, pod, podDir, volumes, sandbox } = state;
  if (!sandbox) throw new Error(`pod ${fullName(state)} has no network yet`);
  return { node, pod, place: placeOf(state), podDir, sandboxPid: sandbox.pid, volumes };
}

function viewOf(state: PodState): PodView {
  const { pod, startedAt, records, mode } = state;
  const ending = mode === 'ending' && records.every(({ process }) => !process);
  return { pod, place: placeOf(state), startedAt, containers: records, ending };
}

/** Nothing of it will run any more, but it is still there to be read (a finished Job's pod, an evicted one). */
export function isFinal(state: PodState): boolean {
  return toldFinal(state) !== undefined || ['Failed', 'Succeeded'].includes(podPhase(viewOf(state)));
}

/** A final phase that somebody else set: an eviction, the node controller. */
function toldFinal({ pod: { status } }: PodState): string | undefined {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded' ? status.phase : undefined;
}

/** Reports what is, if anybody may hear it. */
export function publish(state: PodState): void {
  const { gone, mode, done, writer } = state;
  if (gone || mode === 'off' || done) return;
  const status = shapePodStatus(viewOf(state), writer.latest, new Date());
  const final = toldFinal(state);
  const { podIP, podIPs } = writer.latest ?? {};
  // What ran last keeps its address in the status, as kubelet leaves it.
  const address = status.podIP === undefined && podIP !== undefined && podIPs ? { podIP, podIPs } : {};
  writer.report({ ...status, ...address, ...(final !== undefined && { phase: final }) });
}
