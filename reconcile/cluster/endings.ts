import { type Ailment, lasting } from './ailment.ts';
import type { ContainerExit, ContainerView, PodView, Slot } from './observation.ts';

/** The runtime could not run the container at all: its template, its image or its node is the cause. */
const neverRan: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun', 'RunContainerError']);

/** A crash may be bad luck; a third is a pattern. */
export function isCrashing({ state, reason, restarts }: Pick<ContainerView, 'state' | 'reason' | 'restarts'>): boolean {
  return restarts >= 3 && (state === 'terminated' || reason === 'CrashLoopBackOff');
}

/**
 * Whether etcd itself gave up, which is all that a member's data can cause. A kill (128 and more: too little memory, a probe, a node
 * that goes down), a program that can't be run (126, 127) and what the runtime says in its own words come from the pod's template or
 * from the node: a new member on another volume fares no better. What is not known is not the data's fault.
 */
export function endedByItself({ exit }: Pick<ContainerView, 'exit'>): boolean {
  return exit?.reason === 'Error' && exit.code > 0 && exit.code < 126;
}

/** etcd that is told to end does so with 0. */
function wasKilled({ code, reason }: ContainerExit): boolean {
  return code === 0 || code > 128 || reason === 'ContainerStatusUnknown';
}

/** What is wrong with a member whose etcd keeps ending, in words that say whose fault it can be. */
export function endingOf({ name }: Slot, pod: PodView): Ailment | undefined {
  const { container } = pod;
  const { exit, state, lastWords } = container;
  const isStartingAgain = state === 'running' && !pod.ready && container.restarts >= 3;
  if (exit?.reason === 'OOMKilled' && (isCrashing(container) || isStartingAgain)) return outOfMemory(name, container);
  if (!isCrashing(container)) {
    if (state !== 'terminated') return undefined;
    const why = exit?.reason === 'OOMKilled' ? `was killed ${beyond(container)}` : 'has exited';
    return { reason: 'MemberExited', message: `etcd on ${name} ${why} and is restarted`, passing: true, cure: '' };
  }
  if (exit && neverRan.has(exit.reason)) {
    return lasting(
      'ContainerCannotStart',
      `the container of ${name} cannot start (${exit.reason})`,
      `kubectl describe pod ${name}-0 says why; correct spec.podTemplate or spec.resources`,
    );
  }
  if (exit && wasKilled(exit)) {
    return lasting(
      'MemberKilled',
      `etcd on ${name} is ended from outside again and again (exit code ${exit.code})`,
      `kubectl describe pod ${name}-0 says what ends it (a probe, or its node): correct that; the member keeps its data`,
    );
  }
  const words = lastWords === '' ? '' : `; it last said: ${lastWords}`;
  return lasting(
    'MemberKeepsExiting',
    `etcd on ${name} starts and exits${words}`,
    `kubectl logs ${name}-0 --previous says why`,
  );
}

function outOfMemory(name: string, container: ContainerView): Ailment {
  const cure =
    container.memoryLimit === undefined
      ? `set spec.resources.requests.memory, so that its node has as much; it keeps its data`
      : 'raise spec.resources.limits.memory; it keeps its data';
  return lasting('OutOfMemory', `etcd on ${name} is killed again and again ${beyond(container)}`, cure);
}

function beyond({ memoryLimit }: ContainerView): string {
  return memoryLimit === undefined
    ? 'because its node has too little memory'
    : `because it needs more memory than its limit of ${memoryLimit}`;
}

/** A container beside etcd's: the pod is not Ready because of it, whatever etcd does. */
export function endingBeside({ name }: Slot, { ready, beside }: PodView): Ailment | undefined {
  if (!beside || ready) return undefined;
  const { reason, restarts, exit } = beside;
  const code = exit ? `, exit code ${exit.code}` : '';
  const message = `container ${beside.name} of pod ${name}-0 does not run (${exit?.reason || reason}${code})`;
  const keepsFailing = restarts >= 3 || reason === 'CrashLoopBackOff' || exit === undefined;
  return keepsFailing
    ? lasting(
        'OtherContainerFails',
        `${message}, and the pod is not Ready without it`,
        `kubectl logs ${name}-0 -c ${beside.name} --previous says why; correct spec.podTemplate`,
      )
    : { reason: 'OtherContainerFails', message: `${message} and is restarted`, passing: true, cure: '' };
}

/** Its node ended it as a whole; a StatefulSet makes another pod in its place. */
export function endedWhole({ name }: Slot, { failed }: PodView): Ailment | undefined {
  if (failed === undefined) return undefined;
  const message = `the pod of ${name} was ended by its node (${failed}), and another one is made`;
  return { reason: 'PodEnded', message, passing: true, cure: '' };
}
