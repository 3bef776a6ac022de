import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { advance } from './container-advance.ts';
import { killAll } from './container-kill.ts';
import { type ContainerRecord, createRecords } from './container-record.ts';
import type { NodeContext } from './context.ts';
import { createPodSandbox, type PodSandbox } from './network.ts';
import { endPod, forgetPod, releasePod, shortenGrace } from './pod-end.ts';
import { hostsFile, resolvConf } from './pod-files.ts';
import { fullName, graceMs, isFinal, type PodState, placeOf, publish, tell } from './pod-state.ts';
import { initialized } from './status.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTimers } from './timers.ts';
import { createVolumeRefresher } from './volume-refresher.ts';
import { createPodVolumes, mountsObject } from './volumes.ts';
import type { Pod } from './wire.ts';

export type PodWorker = {
  readonly uid: string;
  /** A newer version of the pod, as the API server has it. */
  update(pod: Pod): void;
  /** The API server has it no more: end it without a word. */
  forget(): void;
  /** Images can be pulled again. */
  retryPulls(): void;
  /**
   * Files made of ConfigMaps, Secrets, fields and tokens are looked at again, when this pod's time for that has come.
   */
  refreshVolumes(): void;
  mounts(kind: 'configMap' | 'secret', namespace: string, name: string): boolean;
  /** By name; the first one if none is given. */
  container(name?: string): Pick<ContainerRecord, 'process' | 'squeezedTo'> | undefined;
  /** The first process of each container that runs. */
  pids(): number[];
  setLinked(linked: boolean): Promise<void>;
  /** Kills everything at once and reports nothing, as a power failure does. */
  powerOff(): Promise<void>;
  readonly finished: Promise<void>;
};

/**
 * Drives one pod: a loop that looks at what is and does what is next, woken by the API, by exits, probes and timers;
 * never two rounds at once.
 */
export function startPodWorker(node: NodeContext, pod: Pod): PodWorker {
  const { namespace, uid } = pod.metadata;
  const state = createState(node, pod);
  const { records, timers, writer, volumes } = state;
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  let rounds: Promise<void> | undefined;
  let again = false;
  let mountFailures = 0;

  function wake(): void {
    again = true;
    rounds ??= runRounds();
  }

  async function runRounds(): Promise<void> {
    while (again && !state.done && state.mode !== 'off') {
      again = false;
      await round().catch((error: unknown) => {
        node.log.warn(
          { pod: fullName(state), error: String(error) },
          'the pod could not be brought forward, trying again',
        );
        timers.set('round', 500, wake);
      });
    }
    rounds = undefined;
    if (state.done) finish();
  }

  async function round(): Promise<void> {
    if (state.gone || state.pod.metadata.deletionTimestamp !== undefined) return endPod(state);
    if (isFinal(state)) return rest(state);
    // kubelet waits for every volume before it makes a sandbox.
    if (await mountVolumes()) {
      state.sandbox ??= await createNetwork(state);
      refresher.open();
      await advanceContainers();
    }
    publish(state);
  }

  async function advanceContainers(): Promise<void> {
    for (const record of records) {
      if (record.role === 'main' && !initialized(records)) return;
      await advance(state, record, wake);
      // Init containers one after the other; a sidecar must have started before the next.
      if (record.role !== 'main' && !initialized([record])) return;
      // What has changed meanwhile (a deletion, say) goes before further starts.
      if (again) return;
    }
    for (const { prober } of records) prober?.hurry();
  }

  async function mountVolumes(): Promise<boolean> {
    try {
      await volumes.prepare(placeOf(state));
    } catch (error) {
      mountFailures++;
      const message = error instanceof Error ? error.message : String(error);
      // Once is common: the scheduler is quicker than whoever makes the volume. Again as often as by a back-off.
      if (mountFailures > 1 && Number.isInteger(Math.log2(mountFailures)))
        tell(state, 'Warning', 'FailedMount', `MountVolume.SetUp failed: ${message}`);
      timers.set('mount', Math.min(2000, 50 * 2 ** Math.min(mountFailures, 10)), wake);
      return false;
    }
    renewTokensInTime();
    return true;
  }

  function renewTokensInTime(): void {
    const due = volumes.dueInMs();
    if (due !== undefined) timers.set('token', due + 50, refresher.ask);
  }

  const refresher = createVolumeRefresher(
    async () => {
      if (state.mode !== 'running' || state.done) return;
      await volumes.refresh(state.pod, placeOf(state));
      renewTokensInTime();
    },
    (error) => {
      node.log.debug({ pod: fullName(state), error: String(error) }, 'volumes were not refreshed, trying again');
      if (state.mode === 'running' && !state.done) timers.set('token', 2000, refresher.ask);
    },
  );

  let isDue = false;

  /** A kubelet looks at each pod in turn: what has changed meanwhile is seen together, by each at another time. */
  function refreshInTime(): void {
    if (isDue) return;
    isDue = true;
    timers.set('propagation', node.timing.propagationMs * Math.random(), () => {
      isDue = false;
      refresher.ask();
    });
  }

  async function killNow(): Promise<void> {
    for (const { process, prober } of records) {
      prober?.stop();
      process?.signal('SIGKILL');
    }
    await Promise.all(records.map(({ process }) => process?.exited));
  }

  wake();
  return {
    uid,
    update: (newer) => {
      const relabelled = downwardChanged(state.pod, newer);
      state.pod = newer;
      if (state.mode === 'ending') shortenGrace(state);
      if (relabelled) refresher.ask();
      wake();
    },
    forget: () => {
      state.gone = true;
      if (state.mode === 'ending') shortenGrace(state);
      wake();
    },
    retryPulls: () => {
      for (const record of records) if (record.phase.kind === 'waiting') record.retryAt = 0;
      wake();
    },
    refreshVolumes: refreshInTime,
    mounts: (kind, inNamespace, object) => inNamespace === namespace && mountsObject(state.pod, kind, object),
    container: (name) => records.find(({ spec, role }) => (name === undefined ? role === 'main' : spec.name === name)),
    pids: () => records.flatMap(({ process }) => (process ? [process.pid] : [])),
    setLinked: async (linked) => {
      await state.sandbox?.setLinked(linked);
    },
    powerOff: async () => {
      state.mode = 'off';
      writer.stop();
      await killNow();
      await rounds;
      // A round that was under way may have started one more.
      await killNow();
      if (state.done) return;
      await releasePod(state);
      await forgetPod(state);
      finish();
    },
    finished,
  };
}

function createState(node: NodeContext, pod: Pod): PodState {
  const podDir = join(node.dir, 'pods', pod.metadata.uid);
  return {
    node,
    podDir,
    records: createRecords(pod),
    volumes: createPodVolumes(node, pod, podDir),
    writer: createStatusWriter(node.api, pod, node.log, node.timing.statusLagMs),
    timers: createTimers(),
    startedAt: pod.status?.startTime ? Date.parse(pod.status.startTime) : Date.now(),
    pod,
    sandbox: undefined,
    mode: 'running',
    gone: false,
    done: false,
  };
}

/** It has ended, or was made to (evicted): it gives everything back, and stays to be read until it is deleted. */
async function rest(state: PodState): Promise<void> {
  await killAll(state, graceMs(state));
  publish(state);
  await releasePod(state);
}

async function createNetwork({ pod, podDir, node }: PodState): Promise<PodSandbox> {
  const hostname = pod.spec.hostname ?? pod.metadata.name;
  await mkdir(podDir, { recursive: true });
  const sandbox = await createPodSandbox(node.pool, hostname.slice(0, 63));
  await writeFile(join(podDir, 'hosts'), hostsFile(pod, sandbox.ips, hostname));
  await writeFile(join(podDir, 'resolv.conf'), resolvConf(pod, node.nameserver));
  await writeFile(join(podDir, 'hostname'), `${hostname}\n`);
  return sandbox;
}

function downwardChanged({ metadata: before }: Pod, { metadata: after }: Pod): boolean {
  const shown = ({ labels, annotations }: Pod['metadata']) => JSON.stringify([labels, annotations]);
  return shown(before) !== shown(after);
}
