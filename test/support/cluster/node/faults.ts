import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Informer } from './informer.ts';
import type { LocalNode } from './local-node.ts';
import { logDirectory } from './logs.ts';
import type { PodWorker } from './pod-worker.ts';
import { signalTree } from './process-tree.ts';
import { createVolumeFaults, type VolumeFaults } from './volume-faults.ts';
import { type Claim, keyOf, type PersistentVolume, type Pod } from './wire.ts';

/** What can be broken on request. Each resolves when it has happened; each throws when what it names is not there. */
export type Faults = VolumeFaults & {
  /** Signals a container's first process; the restart policy does the rest. */
  killContainer(namespace: string, pod: string, container?: string, signal?: NodeJS.Signals): Promise<void>;
  /**
   * Leaves a container so many bytes of memory, at once and after each restart: it ends as `OOMKilled`. 0 gives all
   * back.
   */
  squeezeContainer(namespace: string, pod: string, container: string, bytes: number): Promise<void>;
  /** Stops every process of the pod where it stands (SIGSTOP). Probes go on and will find it silent. */
  freezePod(namespace: string, pod: string): Promise<void>;
  thawPod(namespace: string, pod: string): Promise<void>;
  /** Takes a pod off the network; its processes go on. */
  unplugPod(namespace: string, pod: string): Promise<void>;
  replugPod(namespace: string, pod: string): Promise<void>;
  /** SIGKILLs all containers of all pods of the namespace that have these labels, and says how many pods that were. */
  killAllPods(namespace: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Power failure: every process of the node dies at once, its heartbeat stops. */
  loseNode(node: string): Promise<void>;
  /** The node and the API server hear nothing of each other any more; its processes go on. */
  cutNode(node: string): Promise<void>;
  /** After `loseNode` or `cutNode`. */
  restoreNode(node: string): Promise<void>;
  /** It reboots without a word to anybody: all its processes die, and after so long it is back with another boot. */
  rebootNode(node: string, downMs?: number): Promise<void>;
  /**
   * The PVC's volume can't be mounted for a pod that is made from now on, as with a broken file system; `false`: it
   * can again.
   */
  failMounts(namespace: string, claim: string, failing: boolean): Promise<void>;
  /** While paused, images that a node does not have yet are not pulled. */
  pauseImagePulls(paused: boolean): Promise<void>;
  /** All that a container wrote, over its restarts. */
  logs(namespace: string, pod: string, container?: string): Promise<string>;
};

export type FaultContext = {
  readonly dir: string;
  readonly nodes: readonly LocalNode[];
  readonly pods: Informer<Pod>;
  readonly claims: Informer<Claim>;
  readonly persistentVolumes: Informer<PersistentVolume>;
  readonly pulls: { paused: boolean };
  readonly unmountable: Set<string>;
};

/** How long a reboot takes, in milliseconds. On a real node: a minute and more. */
export const defaultDownMs = 2_000;

export function createFaults(context: FaultContext): Faults {
  const { dir, nodes, pods, pulls, unmountable } = context;

  function podNamed(namespace: string, name: string): Pod {
    const pod = pods.get(`${namespace}/${name}`);
    if (!pod) throw new Error(`there is no pod ${namespace}/${name} on a node`);
    return pod;
  }

  function workerOf(pod: Pod): PodWorker {
    const worker = nodes.map((node) => node.pods.worker(pod.metadata.uid)).find((found) => found !== undefined);
    if (!worker) throw new Error(`pod ${keyOf(pod)} is on no node that runs`);
    return worker;
  }

  function nodeNamed(name: string): LocalNode {
    const node = nodes.find((candidate) => candidate.name === name);
    if (!node) throw new Error(`there is no node ${name}: there are ${nodes.map((known) => known.name).join(', ')}`);
    return node;
  }

  const signalPod = (namespace: string, name: string, signal: NodeJS.Signals) => {
    signalTree(workerOf(podNamed(namespace, name)).pids(), signal);
  };

  return {
    killContainer: async (namespace, pod, container, signal = 'SIGKILL') => {
      const found = workerOf(podNamed(namespace, pod)).container(container);
      if (!found?.process) throw new Error(`container ${container ?? ''} of pod ${namespace}/${pod} does not run`);
      found.process.signal(signal);
      if (signal === 'SIGKILL') await found.process.exited;
    },
    squeezeContainer: async (namespace, pod, container, bytes) => {
      const found = workerOf(podNamed(namespace, pod)).container(container);
      if (!found) throw new Error(`pod ${namespace}/${pod} has no container ${container}`);
      found.squeezedTo = bytes === 0 ? undefined : bytes;
    },
    freezePod: async (namespace, pod) => signalPod(namespace, pod, 'SIGSTOP'),
    thawPod: async (namespace, pod) => signalPod(namespace, pod, 'SIGCONT'),
    unplugPod: (namespace, pod) => workerOf(podNamed(namespace, pod)).setLinked(false),
    replugPod: (namespace, pod) => workerOf(podNamed(namespace, pod)).setLinked(true),
    killAllPods: async (namespace, labels = {}) => {
      const chosen = pods.list().filter(({ metadata }) => {
        if (metadata.namespace !== namespace) return false;
        return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
      });
      const pids = chosen.map((pod) => workerOf(pod).pids());
      for (const roots of pids) signalTree(roots, 'SIGKILL');
      return pids.filter((roots) => roots.length > 0).length;
    },
    loseNode: (node) => nodeNamed(node).lose(),
    cutNode: async (node) => nodeNamed(node).cut(),
    restoreNode: (node) => nodeNamed(node).restore(pods.list()),
    rebootNode: (node, downMs = defaultDownMs) => nodeNamed(node).reboot(downMs, pods.list),
    ...createVolumeFaults(context),
    failMounts: async (namespace, claim, failing) => {
      if (failing) unmountable.add(`${namespace}/${claim}`);
      else unmountable.delete(`${namespace}/${claim}`);
    },
    pauseImagePulls: async (paused) => {
      pulls.paused = paused;
      for (const node of nodes) for (const worker of node.pods.workers()) worker.retryPulls();
    },
    logs: async (namespace, name, container) => {
      const pod = podNamed(namespace, name);
      const wanted = container ?? pod.spec.containers[0]?.name ?? '';
      return readLogs(join(logDirectory(dir, pod), wanted));
    },
  };
}

async function readLogs(directory: string): Promise<string> {
  const files = (await readdir(directory)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return (await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))).join('');
}
