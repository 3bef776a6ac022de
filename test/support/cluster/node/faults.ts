import { open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Informer } from './informer.ts';
import type { LocalNode } from './local-node.ts';
import { logDirectory } from './logs.ts';
import type { PodWorker } from './pod-worker.ts';
import { signalTree } from './process-tree.ts';
import { type Claim, keyOf, type PersistentVolume, type Pod } from './wire.ts';

/** What can be broken on request. Each resolves when it has happened; each throws when what it names is not there. */
export type Faults = {
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
  /** Empties the PVC's volume, under whatever uses it. */
  wipeVolume(namespace: string, claim: string): Promise<void>;
  /** Overwrites the middle of each of the volume's files (or those whose path contains `part`); says how many. */
  corruptVolume(namespace: string, claim: string, part?: string): Promise<number>;
  /**
   * Puts other text of the same length in the place of what is found in those of the volume's files whose path contains
   * `part`, under whatever uses it, as a disk does that lies: nothing else of the file changes. Says how often it was
   * found.
   */
  alterVolume(namespace: string, claim: string, part: string, found: string, other: string): Promise<number>;
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
  const { dir, nodes, pods, claims, persistentVolumes, pulls, unmountable } = context;

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

  function volumePath(namespace: string, name: string): string {
    const volume = persistentVolumes.get(claims.get(`${namespace}/${name}`)?.spec?.volumeName ?? '');
    const path = volume?.spec?.local?.path;
    if (path === undefined) throw new Error(`claim ${namespace}/${name} has no volume`);
    return path;
  }

  async function filesOf(namespace: string, claim: string, part = ''): Promise<string[]> {
    const path = volumePath(namespace, claim);
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files.filter((file) => file.slice(path.length).includes(part));
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
    wipeVolume: async (namespace, claim) => {
      const path = volumePath(namespace, claim);
      for (const entry of await readdir(path)) await rm(join(path, entry), { recursive: true, force: true });
    },
    corruptVolume: async (namespace, claim, part) => {
      const changed = await Promise.all((await filesOf(namespace, claim, part)).map(corrupt));
      return changed.filter(Boolean).length;
    },
    alterVolume: async (namespace, claim, part, found, other) => {
      const [before, after] = [Buffer.from(found), Buffer.from(other)];
      if (before.length !== after.length) throw new Error('what is put in its place must be as long');
      const changes = await Promise.all(
        (await filesOf(namespace, claim, part)).map((file) => alter(file, before, after)),
      );
      return changes.reduce((sum, count) => sum + count, 0);
    },
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

/** Whether there was anything to spoil. */
async function corrupt(file: string): Promise<boolean> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const length = Math.min(4096, size);
    const garbage = Buffer.alloc(length, 0xa5);
    await handle.write(garbage, 0, length, Math.floor((size - length) / 2));
    return true;
  } finally {
    await handle.close();
  }
}

async function alter(file: string, before: Buffer, after: Buffer): Promise<number> {
  const handle = await open(file, 'r+');
  try {
    const content = await handle.readFile();
    let count = 0;
    for (let at = content.indexOf(before); at >= 0; at = content.indexOf(before, at + before.length)) {
      await handle.write(after, 0, after.length, at);
      count += 1;
    }
    return count;
  } finally {
    await handle.close();
  }
}

async function readLogs(directory: string): Promise<string> {
  const files = (await readdir(directory)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return (await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))).join('');
}
