import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isStatus } from './api.ts';
import { formatSeconds, nextBackOff, remainingMs } from './backoff.ts';
import { type ContainerProcess, type Exit, StartError } from './container.ts';
import { type ContainerRecord, createRecords, shouldRestart } from './container-record.ts';
import { lastWords, launch, NotStarted, pullBackOffMessage, type StartContext } from './container-start.ts';
import type { NodeContext } from './context.ts';
import type { PodPlace } from './downward.ts';
import { runHandler } from './handlers.ts';
import { createPodSandbox, type PodSandbox } from './network.ts';
import { hostsFile, resolvConf } from './pod-files.ts';
import { type ProbeKind, startProbes } from './probes.ts';
import { formatTime, initialized, podPhase, shapePodStatus } from './status.ts';
import { createStatusWriter } from './status-writer.ts';
import { createPodVolumes, mountsObject } from './volumes.ts';
import { corePath, type Pod } from './wire.ts';

export type PodWorker = {
  readonly uid: string;
  /** A newer version of the pod, as the API server has it. */
  update(pod: Pod): void;
  /** The API server has it no more: end it without a word. */
  forget(): void;
  /** Something it waits for may have come. */
  wake(): void;
  /** Files made of ConfigMaps, Secrets, fields and tokens are looked at again. */
  refreshVolumes(): void;
  mounts(kind: 'configMap' | 'secret', namespace: string, name: string): boolean;
  container(
    name?: string,
  ): { readonly process: ContainerProcess | undefined; readonly spec: { name: string } } | undefined;
  pids(): number[];
  setLinked(linked: boolean): Promise<void>;
  /** Kills everything at once and reports nothing, as a power failure does. */
  powerOff(): Promise<void>;
  readonly finished: Promise<void>;
};

/** kubelet gives even a pod deleted by force this long. */
const leastGraceMs = 2000;

/**
 * Drives one pod: a loop that looks at what is and does what is next, woken by the API, by exits, probes and timers;
 * never two rounds at once.
 */
export function startPodWorker(node: NodeContext, firstPod: Pod): PodWorker {
  const { namespace, name, uid } = firstPod.metadata;
  const podDir = join(node.dir, 'pods', uid);
  const records = createRecords(firstPod);
  const volumes = createPodVolumes(node, firstPod, podDir);
  const writer = createStatusWriter(node.api, firstPod, node.log);
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const startedAt = firstPod.status?.startTime ? Date.parse(firstPod.status.startTime) : Date.now();
  const timers = new Map<string, NodeJS.Timeout>();

  let pod = firstPod;
  let sandbox: PodSandbox | undefined;
  let mounted = false;
  let mountFailures = 0;
  let mode: 'running' | 'ending' | 'off' = 'running';
  let gone = false;
  let done = false;
  let rounds: Promise<void> | undefined;
  let again = false;
  let killBy = Number.POSITIVE_INFINITY;
  let enforceKill = () => {};

  const place = (): PodPlace => ({ podIP: sandbox?.ip ?? '', hostIP: node.address, nodeName: node.name });
  const event = (type: 'Normal' | 'Warning', reason: string, message: string, container?: string) => {
    if (!gone) node.events(pod, type, reason, message, container);
  };

  function wake(): void {
    again = true;
    rounds ??= runRounds();
  }

  async function runRounds(): Promise<void> {
    try {
      while (again && !done && mode !== 'off') {
        again = false;
        await round().catch((error: unknown) => {
          node.log.warn({ pod: `${namespace}/${name}`, error: String(error) }, 'a pod could not be brought forward');
          wakeIn('error', 500);
        });
      }
    } finally {
      rounds = undefined;
    }
  }

  function wakeIn(key: string, ms: number): void {
    clearTimeout(timers.get(key));
    timers.set(key, setTimeout(wake, Math.min(ms, 2 ** 31 - 1)));
  }

  async function round(): Promise<void> {
    if (gone || pod.metadata.deletionTimestamp !== undefined || mode === 'ending') return end();
    if (isFinal()) return rest();
    sandbox ??= await createSandboxAndFiles();
    if (!(await mountVolumes())) return publish();
    for (const record of records) {
      if (record.role === 'main' && !initialized(records)) break;
      await advance(record);
      // Init containers one after the other; a sidecar must have started before the next.
      if (record.role !== 'main' && !initialized([record])) break;
      // A deletion goes before further starts.
      if (again) return publish();
    }
    for (const { prober, phase } of records) if (phase.kind === 'running') prober?.hurry();
    publish();
  }

  /** Nothing of it will run any more, but it is still there to be read (a finished Job's pod, an evicted one). */
  function isFinal(): boolean {
    const told = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    return told || ['Failed', 'Succeeded'].includes(podPhase(view()));
  }

  async function rest(): Promise<void> {
    await killAll(graceMs());
    publish();
    await release();
  }

  async function createSandboxAndFiles(): Promise<PodSandbox> {
    await mkdir(podDir, { recursive: true });
    const hostname = pod.spec.hostname ?? name;
    const created = await createPodSandbox(node.pool, hostname.slice(0, 63));
    await writeFile(join(podDir, 'hosts'), hostsFile(pod, created.ip, hostname));
    await writeFile(join(podDir, 'resolv.conf'), resolvConf(pod));
    await writeFile(join(podDir, 'hostname'), `${hostname}\n`);
    return created;
  }

  async function mountVolumes(): Promise<boolean> {
    if (mounted) return true;
    try {
      await volumes.prepare(place());
    } catch (error) {
      mountFailures++;
      const message = error instanceof Error ? error.message : String(error);
      if (mountFailures === 2) event('Warning', 'FailedMount', `MountVolume.SetUp failed: ${message}`);
      wakeIn('mount', Math.min(2000, 50 * 2 ** Math.min(mountFailures, 10)));
      return false;
    }
    mounted = true;
    for (const claim of volumes.claimNames) node.onClaimMounted(`${namespace}/${claim}`, 1);
    scheduleRefresh();
    return true;
  }

  function scheduleRefresh(): void {
    const due = volumes.dueInMs();
    if (due === undefined) return;
    clearTimeout(timers.get('token'));
    timers.set('token', setTimeout(refreshVolumes, Math.min(due + 50, 2 ** 31 - 1)));
  }

  function refreshVolumes(): void {
    if (!mounted || mode !== 'running') return;
    volumes
      .refresh(pod, place())
      .then(scheduleRefresh)
      .catch((error: unknown) => {
        node.log.debug(
          { pod: `${namespace}/${name}`, error: String(error) },
          'volumes were not refreshed, trying again',
        );
        clearTimeout(timers.get('token'));
        if (mode === 'running') timers.set('token', setTimeout(refreshVolumes, 2000));
      });
  }

  async function advance(record: ContainerRecord): Promise<void> {
    const { phase } = record;
    const now = Date.now();
    if (phase.kind === 'running') return;
    if (phase.kind === 'terminated') {
      if (record.role === 'init' && phase.terminated.exitCode === 0) return;
      if (!shouldRestart(pod, record, phase.terminated.exitCode)) return;
    }
    if (record.retryAt > now) {
      showPullBackOff(record);
      return wakeIn(record.spec.name, record.retryAt - now + 5);
    }
    const ended = phase.kind === 'terminated' ? phase.terminated : record.last;
    if (ended) {
      const endedAt = Date.parse(ended.finishedAt ?? '') || now;
      const remaining = remainingMs(record.crash, node.timing.crash, endedAt, now);
      if (remaining > 0) return crashLoop(record, ended, remaining);
    }
    await start(record);
  }

  function showPullBackOff(record: ContainerRecord): void {
    if (record.phase.kind !== 'waiting' || record.phase.reason !== 'ErrImagePull' || !record.pull) return;
    const message = pullBackOffMessage(record.spec.image ?? '', record.pull.delayMs, record.phase.message);
    record.phase = { kind: 'waiting', reason: 'ImagePullBackOff', message };
  }

  function crashLoop(record: ContainerRecord, ended: NonNullable<ContainerRecord['last']>, remaining: number): void {
    const delay = formatSeconds(record.crash?.delayMs ?? 0);
    const message = `back-off ${delay} restarting failed container=${record.spec.name} pod=${name}_${namespace}(${uid})`;
    if (record.phase.kind === 'terminated')
      event(
        'Warning',
        'BackOff',
        `Back-off restarting failed container ${record.spec.name} in pod ${name}_${namespace}(${uid})`,
        record.spec.name,
      );
    record.last = ended;
    record.phase = { kind: 'waiting', reason: 'CrashLoopBackOff', message };
    wakeIn(record.spec.name, remaining + 5);
  }

  function startContext(): StartContext {
    if (!sandbox) throw new Error(`pod ${namespace}/${name} has no sandbox`);
    return { node, pod, place: place(), podDir, sandboxPid: sandbox.pid, volumes };
  }

  async function start(record: ContainerRecord): Promise<void> {
    const ended = record.phase.kind === 'terminated' ? record.phase.terminated : record.last;
    const context = startContext();
    try {
      await launch(context, record);
    } catch (error) {
      notStarted(record, error, ended);
      return;
    }
    if (ended) {
      record.last = ended;
      record.restarts++;
      record.crash = nextBackOff(record.crash, node.timing.crash, Date.now());
    }
    record.retryAt = 0;
    record.killing = false;
    const { process: running } = record;
    if (!running) throw new Error(`container ${record.spec.name} was launched without a process`);
    const since = Date.now();
    record.phase = { kind: 'running', startedAt: since };
    record.started = record.spec.startupProbe === undefined && record.spec.lifecycle?.postStart === undefined;
    record.ready = record.started && record.spec.readinessProbe === undefined;
    event('Normal', 'Started', `Started container ${record.spec.name}`, record.spec.name);
    void running.exited.then((exit) => stopped(context, record, running, exit, since));
    publish();
    await postStart(record, running);
    if (record.process === running) probe(record, running);
  }

  function notStarted(record: ContainerRecord, error: unknown, ended: ContainerRecord['last']): void {
    const now = Date.now();
    if (error instanceof NotStarted) {
      record.retryAt = now + error.retryInMs;
      const waits = error.reason === 'ContainerCreating';
      record.phase = { kind: 'waiting', reason: error.reason, message: waits ? undefined : error.message };
      if (!waits) event('Warning', 'Failed', `Error: ${error.reason}: ${error.message}`, record.spec.name);
    } else if (error instanceof StartError) {
      // The runtime made the container and could not run it: it counts as started and failed.
      record.starts++;
      const time = formatTime(now);
      const message = `failed to create containerd task: ${error.message}`;
      if (ended) {
        record.last = ended;
        record.restarts++;
      }
      record.crash = nextBackOff(record.crash, node.timing.crash, now);
      record.phase = {
        kind: 'terminated',
        terminated: { exitCode: 128, reason: 'StartError', message, startedAt: time, finishedAt: time },
      };
      event('Warning', 'Failed', `Error: ${message}`, record.spec.name);
      again = true;
      return;
    } else {
      // The API server did not answer, a volume is not as it should be: not the container's doing.
      record.retryAt = now + 1000;
      const message = error instanceof Error ? error.message : String(error);
      record.phase = { kind: 'waiting', reason: 'CreateContainerError', message };
    }
    if (ended) record.last = ended;
    wakeIn(record.spec.name, record.retryAt - now + 5);
  }

  async function postStart(record: ContainerRecord, running: ContainerProcess): Promise<void> {
    const hook = record.spec.lifecycle?.postStart;
    if (!hook) return;
    const outcome = await hookDone(hook, record, running, graceMs());
    if (record.process !== running) return;
    if (!outcome.ok) {
      event('Warning', 'FailedPostStartHook', `PostStartHook failed: ${outcome.message}`, record.spec.name);
      void kill(record, graceMs());
      return;
    }
    record.started = record.spec.startupProbe === undefined;
    record.ready = record.started && record.spec.readinessProbe === undefined;
  }

  function probe(record: ContainerRecord, { pid }: ContainerProcess): void {
    const target = { container: record.spec, podIP: place().podIP, pid, env: record.env };
    record.prober = startProbes(target, {
      verdict: (kind, ok) => onVerdict(record, kind, ok),
      failed: (kind, message) => {
        const capital = kind.charAt(0).toUpperCase() + kind.slice(1);
        event('Warning', 'Unhealthy', `${capital} probe failed: ${message}`, record.spec.name);
      },
    });
  }

  function onVerdict(record: ContainerRecord, kind: ProbeKind, ok: boolean): void {
    if (record.phase.kind !== 'running' || mode === 'off') return;
    if (kind === 'readiness') record.ready = ok;
    if (kind === 'startup' && ok) {
      record.started = true;
      record.ready = record.spec.readinessProbe === undefined;
    }
    if (kind !== 'readiness' && !ok && !record.killing) {
      event(
        'Normal',
        'Killing',
        `Container ${record.spec.name} failed ${kind} probe, will be restarted`,
        record.spec.name,
      );
      const probe = kind === 'startup' ? record.spec.startupProbe : record.spec.livenessProbe;
      const seconds = probe?.terminationGracePeriodSeconds;
      void kill(record, seconds === undefined ? graceMs() : seconds * 1000);
    }
    publish();
    wake();
  }

  function stopped(
    context: StartContext,
    record: ContainerRecord,
    running: ContainerProcess,
    exit: Exit,
    since: number,
  ): void {
    if (record.process !== running) return;
    record.process = undefined;
    record.prober?.stop();
    record.prober = undefined;
    record.started = false;
    record.ready = false;
    if (mode === 'off') return;
    const words = lastWords(context, record, exit.code);
    record.phase = {
      kind: 'terminated',
      terminated: {
        exitCode: exit.code,
        reason: exit.code === 0 ? 'Completed' : 'Error',
        ...(words !== undefined && { message: words }),
        startedAt: formatTime(since),
        finishedAt: formatTime(Date.now()),
        containerID: record.containerID,
      },
    };
    // The first restart is at once; the pause before a later one counts from this end.
    if (Date.now() - since > 2 * node.timing.crash.capMs) record.crash = undefined;
    publish();
    wake();
  }

  function graceMs(): number {
    return (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  function hookDone(
    hook: NonNullable<NonNullable<ContainerRecord['spec']['lifecycle']>['preStop']>,
    record: ContainerRecord,
    running: ContainerProcess,
    timeoutMs: number,
  ) {
    const target = { container: record.spec, podIP: place().podIP, pid: running.pid, env: record.env };
    const { sleep } = hook;
    const work = sleep
      ? new Promise<{ ok: true }>((resolve) =>
          setTimeout(() => resolve({ ok: true }), Math.min(timeoutMs, sleep.seconds * 1000)),
        )
      : runHandler(hook, target, timeoutMs);
    return Promise.race([work, running.exited.then(() => ({ ok: true }) as const)]);
  }

  /** preStop, SIGTERM, and SIGKILL when the grace is over (or `killBy`, which a later deletion can bring forward). */
  async function kill(record: ContainerRecord, grace: number): Promise<void> {
    const { process: running } = record;
    if (!running || record.killing) return running?.exited.then(() => undefined);
    record.killing = true;
    const deadline = Date.now() + grace;
    const hook = record.spec.lifecycle?.preStop;
    if (hook && grace > 0) await hookDone(hook, record, running, grace);
    running.signal('SIGTERM');
    const timer = setTimeout(() => running.signal('SIGKILL'), Math.max(leastGraceMs, deadline - Date.now()));
    await running.exited;
    clearTimeout(timer);
  }

  /** Main containers first, sidecars after them, each within the one grace period. */
  async function killAll(grace: number): Promise<void> {
    const deadline = Date.now() + grace;
    for (const { prober } of records) prober?.onlyReadiness();
    const left = () => Math.max(0, deadline - Date.now());
    await Promise.all(records.filter(({ role }) => role !== 'sidecar').map((record) => kill(record, left())));
    await Promise.all(records.filter(({ role }) => role === 'sidecar').map((record) => kill(record, left())));
  }

  async function end(): Promise<void> {
    mode = 'ending';
    setKillBy(gone ? leastGraceMs : Math.max(leastGraceMs, graceMs()));
    if (records.some(({ process: running }) => running)) event('Normal', 'Killing', 'Stopping containers of the pod');
    await killAll(gone ? leastGraceMs : graceMs());
    clearTimeout(timers.get('kill'));
    if (!gone) {
      publish();
      await writer.settled();
    }
    await release();
    if (!gone) await removeFromApi();
    await cleanUp();
  }

  /** Called again for each newer deletion: the shortest grace asked for counts. */
  function setKillBy(grace: number): void {
    const at = Date.now() + grace;
    if (at >= killBy) return;
    killBy = at;
    enforceKill = () => {
      for (const { process: running } of records) running?.signal('SIGKILL');
    };
    clearTimeout(timers.get('kill'));
    timers.set('kill', setTimeout(enforceKill, grace));
  }

  async function removeFromApi(): Promise<void> {
    for (let attempt = 1; !gone && mode === 'ending'; attempt++) {
      try {
        await node.api.remove(corePath(namespace, 'pods', name), {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          gracePeriodSeconds: 0,
          preconditions: { uid },
        });
        return;
      } catch (error) {
        if (isStatus(error, 404, 409)) return;
        node.log.debug({ pod: `${namespace}/${name}`, error: String(error) }, 'the pod was not removed, trying again');
        await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 50 * 2 ** attempt)));
      }
    }
  }

  /** Gives back network and volumes; logs stay. */
  async function release(): Promise<void> {
    for (const timer of timers.values()) clearTimeout(timer);
    if (mounted) for (const claim of volumes.claimNames) node.onClaimMounted(`${namespace}/${claim}`, -1);
    mounted = false;
    const released = sandbox;
    if (released) await released.destroy();
    sandbox = undefined;
    publish();
  }

  async function cleanUp(): Promise<void> {
    if (done) return;
    done = true;
    writer.stop();
    await rm(podDir, { recursive: true, force: true });
    finish();
  }

  function view() {
    return {
      pod,
      place: place(),
      startedAt,
      containers: records,
      ending: mode === 'ending' && records.every(({ process: running }) => !running),
    };
  }

  function publish(): void {
    if (gone || mode === 'off' || done) return;
    const told = pod.status;
    // A phase that is final stays, whoever set it (an eviction, the node controller).
    const status = shapePodStatus(view(), writer.latest, new Date());
    const final = told?.phase === 'Failed' || told?.phase === 'Succeeded' ? { phase: told.phase } : {};
    const { podIP, podIPs } = writer.latest ?? {};
    // What ran last keeps its address in the status, as kubelet leaves it.
    const address = status.podIP === undefined && podIP !== undefined && podIPs ? { podIP, podIPs } : {};
    writer.report({ ...status, ...address, ...final });
  }

  wake();
  return {
    uid,
    update: (newer) => {
      const old = pod;
      pod = newer;
      if (newer.metadata.deletionTimestamp !== undefined && mode === 'ending')
        setKillBy(Math.max(leastGraceMs, graceMs()));
      const { labels, annotations } = newer.metadata;
      const changed =
        JSON.stringify([labels, annotations]) !== JSON.stringify([old.metadata.labels, old.metadata.annotations]);
      if (changed) refreshVolumes();
      wake();
    },
    forget: () => {
      gone = true;
      if (mode === 'ending') setKillBy(leastGraceMs);
      wake();
    },
    wake: () => {
      for (const record of records)
        if (record.phase.kind === 'waiting' && record.phase.reason === 'ContainerCreating') record.retryAt = 0;
      wake();
    },
    refreshVolumes,
    mounts: (kind, inNamespace, object) => inNamespace === namespace && mountsObject(pod, kind, object),
    container: (wanted) =>
      records.find(({ spec, role }) => (wanted === undefined ? role === 'main' : spec.name === wanted)),
    pids: () => records.flatMap(({ process: running }) => (running ? [running.pid] : [])),
    setLinked: async (linked) => {
      await sandbox?.setLinked(linked);
    },
    powerOff: async () => {
      mode = 'off';
      writer.stop();
      for (const { process: running, prober } of records) {
        prober?.stop();
        running?.signal('SIGKILL');
      }
      await rounds;
      // A round that was under way may have started one more.
      for (const { process: running, prober } of records) {
        prober?.stop();
        running?.signal('SIGKILL');
        await running?.exited;
      }
      await release();
      await cleanUp();
    },
    finished,
  };
}
