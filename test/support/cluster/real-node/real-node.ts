import { join } from 'node:path';
import type { Daemon } from '../daemon.ts';
import { type Containerd, type ContainerdOptions, startContainerd } from './containerd.ts';
import { type KubeletOptions, startKubelet } from './kubelet.ts';
import { makeCgroup } from './machine.ts';

/** A containerd and a kubelet of their own. */
export interface RealNode extends AsyncDisposable {
  readonly name: string;
  /** Of its pods: a directory for each, as kubelet names it. */
  readonly logs: string;
  /** As it is now: another one after a loss. */
  kubelet(): Daemon;
  /** The first process of each container that runs, by the container's ID. */
  processes(): Promise<ReadonlyMap<string, number>>;
  /** As when the power fails. */
  lose(): Promise<void>;
  /** Its kubelet neither hears nor says anything, nor does it anything; its containers go on. */
  cut(): void;
  /** After `lose` or `cut`. */
  restore(): Promise<void>;
}

export interface RealNodeOptions
  extends Omit<ContainerdOptions, 'directory'>,
    Omit<KubeletOptions, 'directory' | 'socket' | 'binary'> {
  /** Its own. */
  readonly directory: string;
  readonly kubeletBinary: string;
  /** Archives in the layout of OCI. */
  readonly images: readonly string[];
}

/** Ready is what its Node says. @throws with the last lines of the log of what did not start */
export async function startRealNode(options: RealNodeOptions): Promise<RealNode> {
  const { directory, node, cgroup, images, kubeletBinary } = options;
  const own = join(directory, 'kubelet');
  let containerd: Containerd = await startContainerd({ ...options, directory: join(directory, 'containerd') });
  const kubeletOf = ({ socket }: Containerd) =>
    startKubelet({ ...options, binary: kubeletBinary, directory: own, socket });
  let kubelet: Daemon;
  try {
    for (const archive of images) await containerd.importImage(archive);
    await makeCgroup(`${cgroup}/node-${node}`);
    kubelet = await kubeletOf(containerd);
  } catch (error) {
    await containerd[Symbol.asyncDispose]();
    throw error;
  }
  let isLost = false;
  return {
    name: `node-${node}`,
    logs: join(own, 'pod-logs'),
    kubelet: () => kubelet,
    processes: () => containerd.processes(),
    lose: async () => {
      isLost = true;
      await kubelet.stop(0);
      await containerd.lose();
    },
    cut: () => kubelet.signal('SIGSTOP'),
    restore: async () => {
      kubelet.signal('SIGCONT');
      if (!isLost) return;
      containerd = await startContainerd({ ...options, directory: join(directory, 'containerd') });
      kubelet = await kubeletOf(containerd);
      isLost = false;
    },
    [Symbol.asyncDispose]: async () => {
      kubelet.signal('SIGCONT');
      await kubelet.stop();
      await containerd[Symbol.asyncDispose]();
    },
  };
}
