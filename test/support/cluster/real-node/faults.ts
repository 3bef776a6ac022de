import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../node/command.ts';
import type { Faults } from '../node/faults.ts';
import type { Informer } from '../node/informer.ts';
import { signalTree } from '../node/process-tree.ts';
import { createVolumeFaults } from '../node/volume-faults.ts';
import type { Claim, PersistentVolume, Pod } from '../node/wire.ts';
import type { RealNode } from './real-node.ts';

export interface RealFaultContext {
  readonly nodes: readonly RealNode[];
  readonly pods: Informer<Pod>;
  readonly claims: Informer<Claim>;
  readonly persistentVolumes: Informer<PersistentVolume>;
}

/** What stories break, on real nodes: by signals, links and files, and past the kubelets. */
export function createRealFaults(context: RealFaultContext): Faults {
  const { nodes, pods } = context;

  function podNamed(namespace: string, name: string): Pod {
    const pod = pods.get(`${namespace}/${name}`);
    if (!pod) throw new Error(`there is no pod ${namespace}/${name} on a node`);
    return pod;
  }

  function nodeNamed(name: string | undefined): RealNode {
    const node = nodes.find((candidate) => candidate.name === name);
    if (!node) throw new Error(`there is no node ${name}: there are ${nodes.map((known) => known.name).join(', ')}`);
    return node;
  }

  /** Of the containers of a pod that run, or of one of them. */
  async function processesOf(pod: Pod, container?: string): Promise<readonly number[]> {
    const processes = await nodeNamed(pod.spec.nodeName).processes();
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
    return [...initContainerStatuses, ...containerStatuses]
      .filter(({ name }) => container === undefined || name === container)
      .flatMap(({ containerID }) => processes.get(containerID?.split('://')[1] ?? '') ?? []);
  }

  async function signalPod(namespace: string, name: string, signal: NodeJS.Signals): Promise<void> {
    signalTree(await processesOf(podNamed(namespace, name)), signal);
  }

  async function setLinked(namespace: string, name: string, state: 'up' | 'down'): Promise<void> {
    const [pid] = await processesOf(podNamed(namespace, name));
    if (pid === undefined) throw new Error(`no container of pod ${namespace}/${name} runs`);
    await run('ip', ['link', 'set', await linkOf(pid), state]);
  }

  return {
    killContainer: async (namespace, name, container, signal = 'SIGKILL') => {
      const pod = podNamed(namespace, name);
      const [pid] = await processesOf(pod, container ?? pod.spec.containers[0]?.name);
      if (pid === undefined) throw new Error(`container ${container ?? ''} of pod ${namespace}/${name} does not run`);
      process.kill(pid, signal);
      if (signal === 'SIGKILL') await untilGone(pid);
    },
    freezePod: (namespace, name) => signalPod(namespace, name, 'SIGSTOP'),
    thawPod: (namespace, name) => signalPod(namespace, name, 'SIGCONT'),
    unplugPod: (namespace, name) => setLinked(namespace, name, 'down'),
    replugPod: (namespace, name) => setLinked(namespace, name, 'up'),
    killAllPods: async (namespace, labels = {}) => {
      const chosen = pods.list().filter(({ metadata }) => {
        if (metadata.namespace !== namespace) return false;
        return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
      });
      const pids = await Promise.all(chosen.map((pod) => processesOf(pod)));
      for (const roots of pids) signalTree(roots, 'SIGKILL');
      return pids.filter((roots) => roots.length > 0).length;
    },
    loseNode: (name) => nodeNamed(name).lose(),
    cutNode: async (name) => nodeNamed(name).cut(),
    restoreNode: (name) => nodeNamed(name).restore(),
    ...createVolumeFaults(context),
    logs: async (namespace, name, container) => {
      const pod = podNamed(namespace, name);
      const directory = `${namespace}_${name}_${pod.metadata.uid}`;
      return readLogs(
        join(nodeNamed(pod.spec.nodeName).logs, directory, container ?? pod.spec.containers[0]?.name ?? ''),
      );
    },
    squeezeContainer: unable(
      'leaves no container less memory than its spec: runc refuses a limit that it needs itself',
    ),
    rebootNode: unable('has the boot ID of this machine, so that it never reboots'),
    failMounts: unable('mounts what is there'),
    pauseImagePulls: unable('pulls no image: it has them all'),
  };
}

function unable(why: string): () => Promise<never> {
  return () => Promise.reject(new Error(`a real node ${why}: run this story on the process node`));
}

/** The other end of a container's `eth0`, on the bridge. */
async function linkOf(pid: number): Promise<string> {
  const inside = await run('nsenter', ['--target', `${pid}`, '--net', 'ip', '-o', 'link', 'show', 'eth0']);
  const [, index] = /eth0@if(\d+):/.exec(inside) ?? [];
  const outside = await run('ip', ['-o', 'link']);
  const [, name] = new RegExp(`^${index}: ([^@:]+)`, 'm').exec(outside) ?? [];
  if (index === undefined || name === undefined) throw new Error(`process ${pid} has no link to the bridge: ${inside}`);
  return name;
}

async function untilGone(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (existsSync(`/proc/${pid}`)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} was killed, and is still there after 10 s`);
    await delay(20);
  }
}

/** Kubelet's files have a time, a stream and a tag before each line. */
async function readLogs(directory: string): Promise<string> {
  const files = (await readdir(directory)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return texts.join('').replaceAll(/^\S+ (stdout|stderr) [FP] /gm, '');
}
