import { mustNotRun } from '../../../../manifests/api/version-defects.ts';
import { kubectl } from '../../../../manifests/render/kubectl.ts';
import { type Ailment, lasting, passing } from '../health/ailment.ts';
import type { ContainerExit, ContainerView, PodView, Slot } from '../observation.ts';
import { wayBack } from '../recovery/way-back.ts';

/** The runtime could not start the container at all: its template, its image or its node is the cause. */
const neverRan: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun', 'RunContainerError']);

/** A crash may be bad luck; a third is a pattern. */
export function isCrashing({ state, reason, restarts }: Pick<ContainerView, 'state' | 'reason' | 'restarts'>): boolean {
  return restarts >= 3 && (state === 'terminated' || reason === 'CrashLoopBackOff');
}

/**
 * Whether etcd itself exited with an error, which is all that a member's data can cause. A kill (128 and more: too
 * little memory, a probe, a node that shuts down), a program that cannot run (126, 127) and errors of the runtime come
 * from the pod's template or from the node: a new member on another volume fares no better. An unknown cause is not the
 * data's fault.
 */
export function endedByItself({ exit }: Pick<ContainerView, 'exit'>): boolean {
  return exit?.reason === 'Error' && exit.code > 0 && exit.code < 126;
}

/** etcd that is told to stop exits with 0. */
function wasKilled({ code, reason }: ContainerExit): boolean {
  return code === 0 || code > 128 || reason === 'ContainerStatusUnknown';
}

/** The ailment of a member whose etcd keeps exiting, in words that name the possible cause. */
export function endingOf(slot: Slot, pod: PodView): Ailment | undefined {
  const { name } = slot;
  const { container } = pod;
  const { exit, state, lastWords } = container;
  const isStartingAgain = state === 'running' && !pod.ready && container.restarts >= 3;
  if (exit?.reason === 'OOMKilled' && (isCrashing(container) || isStartingAgain)) return outOfMemory(name, container);
  if (!isCrashing(container)) {
    if (state !== 'terminated') return undefined;
    const why = exit?.reason === 'OOMKilled' ? `was killed ${beyond(container)}` : 'has exited';
    return passing('MemberExited', `etcd on ${name} ${why} and is restarted`, '');
  }
  if (exit && neverRan.has(exit.reason)) {
    return lasting(
      'ContainerCannotStart',
      `the container of ${name} cannot start (${exit.reason})`,
      `see why: ${kubectl(slot, `describe pod ${name}-0`)}; correct spec.podTemplate or spec.resources`,
    );
  }
  if (exit && wasKilled(exit)) {
    return lasting(
      'MemberKilled',
      `etcd on ${name} is killed from outside again and again (exit code ${exit.code})`,
      `see what kills it (a probe, or its node): ${kubectl(slot, `describe pod ${name}-0`)}; correct that; the member keeps its data`,
    );
  }
  const version = slot.peer?.inputs.version;
  const defect = version === undefined ? undefined : mustNotRun(version);
  const known = defect ? `; etcd ${version} must not be used: ${defect.because}` : '';
  const words = lastWords === '' ? '' : `; it last logged: ${lastWords}`;
  const back = wayBack(slot);
  return lasting(
    'MemberKeepsExiting',
    `etcd on ${name} starts and exits${known}${words}`,
    `${defect ? `set spec.version to ${defect.use} or a later patch, which starts on the same data; ` : ''}see why: ${kubectl(slot, `logs ${name}-0 --previous`)}${back === undefined ? '' : `; or, ${back}`}`,
  );
}

function outOfMemory(name: string, container: ContainerView): Ailment {
  const cure =
    container.memoryLimit === undefined
      ? `set spec.resources.requests.memory, so that its node has that much; the member keeps its data`
      : 'raise spec.resources.limits.memory; the member keeps its data';
  return lasting('OutOfMemory', `etcd on ${name} is killed again and again ${beyond(container)}`, cure);
}

function beyond({ memoryLimit }: ContainerView): string {
  return memoryLimit === undefined
    ? 'because its node has too little memory'
    : `because it needs more memory than its limit of ${memoryLimit}`;
}

/** A container beside etcd's: the pod is not Ready because of it, whatever etcd does. */
export function endingBeside(slot: Slot, { ready, beside }: PodView): Ailment | undefined {
  if (!beside || ready) return undefined;
  const { name } = slot;
  const { reason, restarts, exit } = beside;
  const code = exit ? `, exit code ${exit.code}` : '';
  const message = `container ${beside.name} of pod ${name}-0 does not run (${exit?.reason || reason}${code})`;
  const keepsFailing = restarts >= 3 || reason === 'CrashLoopBackOff' || exit === undefined;
  return keepsFailing
    ? lasting(
        'OtherContainerFails',
        `${message}, and the pod is not Ready without it`,
        `see why: ${kubectl(slot, `logs ${name}-0 -c ${beside.name} --previous`)}; correct spec.podTemplate, or what else put it into the pod`,
      )
    : passing('OtherContainerFails', `${message} and is restarted`, '');
}

/** Its node ended the whole pod; the StatefulSet controller makes another one. */
export function endedWhole({ name }: Slot, { failed }: PodView): Ailment | undefined {
  if (failed === undefined) return undefined;
  const message = `the node ended the pod of ${name} (${failed}), and another pod is being made`;
  return passing('PodEnded', message, '');
}
