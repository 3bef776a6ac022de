import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isStatus } from './api.ts';
import { killAll } from './container-kill.ts';
import { fullName, graceMs, leastGraceMs, type PodState, publish, tell } from './pod-state.ts';
import { corePath } from './wire.ts';

/** Ends a pod that is being deleted, or is gone: containers, last status, network and volumes, and then the object. */
export async function endPod(state: PodState): Promise<void> {
  state.mode = 'ending';
  shortenGrace(state);
  if (state.records.some(({ process }) => process)) tell(state, 'Normal', 'Killing', 'Stopping containers of the pod');
  await killAll(state, graceMs(state));
  state.timers.clear('kill');
  publish(state);
  if (!state.gone) await state.writer.settled();
  await releasePod(state);
  await removeObject(state);
  await forgetPod(state);
}

/** Called again for each newer deletion: the shortest grace that was asked for counts. */
export function shortenGrace(state: PodState): void {
  const kill = () => {
    for (const { process } of state.records) process?.signal('SIGKILL');
  };
  state.timers.set('kill', Math.max(leastGraceMs, graceMs(state)), kill);
}

/** Gives back network and volumes; logs stay. */
export async function releasePod(state: PodState): Promise<void> {
  const { timers, volumes, sandbox } = state;
  timers.clearAll();
  volumes.release();
  state.node.objects.release(state.pod);
  await sandbox?.destroy();
  state.sandbox = undefined;
  publish(state);
}

export async function forgetPod(state: PodState): Promise<void> {
  state.done = true;
  state.writer.stop();
  await rm(state.podDir, { recursive: true, force: true });
}

/** The API server keeps a deleted pod until its node confirms that nothing of it runs. */
async function removeObject(state: PodState): Promise<void> {
  const { namespace, name, uid } = state.pod.metadata;
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
  for (let attempt = 1; !state.gone && state.mode === 'ending'; attempt++) {
    try {
      await state.node.api.remove(corePath(namespace, 'pods', name), options);
      return;
    } catch (error) {
      if (isStatus(error, 404, 409)) return;
      state.node.log.debug({ pod: fullName(state), error: String(error) }, 'the pod was not removed, trying again');
      await delay(Math.min(5000, 50 * 2 ** attempt));
    }
  }
}
