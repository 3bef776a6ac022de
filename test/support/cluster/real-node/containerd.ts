import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Daemon, startDaemon, untilReady } from '../daemon.ts';
import { addressesOf } from '../families.ts';
import { run } from '../node/command.ts';
import { signalTree } from '../node/process-tree.ts';
import { pauseImage } from './images.ts';

export interface Containerd extends AsyncDisposable {
  readonly socket: string;
  /** Of an archive in the layout of OCI. */
  importImage(archive: string): Promise<void>;
  /** The first process of each container that runs, by the container's ID. */
  processes(): Promise<ReadonlyMap<string, number>>;
  /** As when the power fails: it dies with all that it has started, and what it keeps stays. */
  lose(): Promise<void>;
}

export interface ContainerdOptions {
  /** Its own: its socket and what runs are below. */
  readonly directory: string;
  /** Where it keeps its images and the roots of containers. */
  readonly root: string;
  readonly logs: string;
  readonly node: number;
  readonly bridge: string;
  /** The directory of the CNI plugins. */
  readonly cniPlugins: string;
}

/** The distribution's, with a configuration of our own. @throws with the last lines of its log */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { directory, logs, node } = options;
  const socket = join(directory, 'containerd.sock');
  const network = join(directory, 'cni');
  await mkdir(network, { recursive: true });
  await writeFile(join(network, '10-pods.conflist'), networkOf(options));
  const file = join(directory, 'config.toml');
  await writeFile(file, await configuration(options, socket, network));
  const daemon = startDaemon('containerd', ['--config', file], join(logs, `containerd-${node}.log`));
  const ctr = (args: readonly string[], timeoutMs = 10_000) =>
    run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args], { timeoutMs });
  try {
    await untilReady(daemon, async () => (await ctr(['version'])).includes('Server'));
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return {
    socket,
    importImage: async (archive) => {
      await ctr(['images', 'import', archive], 120_000);
    },
    processes: () => processesOf(ctr),
    lose: () => lose(daemon, ctr, socket),
    [Symbol.asyncDispose]: () => stop(daemon, ctr),
  };
}

type Ctr = (args: readonly string[]) => Promise<string>;

async function processesOf(ctr: Ctr): Promise<ReadonlyMap<string, number>> {
  const rows = (await ctr(['tasks', 'list'])).split('\n').map((row) => row.trim().split(/\s+/));
  return new Map(
    rows.flatMap(([id = '', pid = '', state]) => (state === 'RUNNING' ? [[id, Number(pid)] as const] : [])),
  );
}

async function lose(daemon: Daemon, ctr: Ctr, socket: string): Promise<void> {
  const roots = [...(await processesOf(ctr)).values()];
  // Before its containers: it would tell of their end, and clean up after them.
  await daemon.stop(0);
  signalTree([...(await shimsOf(socket)), ...roots], 'SIGKILL');
}

/** They name the containerd that they are of, and have another parent once that has ended. */
async function shimsOf(socket: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const ours = pids.map(async (pid) => {
    // It may have ended since it was listed.
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    return words[0]?.includes('containerd-shim') && words.includes(socket) ? [Number(pid)] : [];
  });
  return (await Promise.all(ours)).flat();
}

/** With what it started: its shims outlive it otherwise, until the sandbox ends. */
async function stop(daemon: Daemon, ctr: Ctr): Promise<void> {
  const roots = await processesOf(ctr).catch(() => new Map<string, number>());
  signalTree([...roots.values()], 'SIGKILL');
  await daemon.stop();
}

/** In TOML a string is what it is in JSON. */
async function configuration(
  { directory, root, cniPlugins }: ContainerdOptions,
  socket: string,
  network: string,
): Promise<string> {
  const mayProtect = await maySetResources();
  const text = (value: string) => JSON.stringify(value);
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${text(root)}
state = ${text(join(directory, 'state'))}
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = ${text(socket)}
[${cri}]
sandbox_image = ${text(pauseImage)}
restrict_oom_score_adj = ${!mayProtect}
[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
[${cri}.cni]
bin_dir = ${text(cniPlugins)}
conf_dir = ${text(network)}
`;
}

/** CAP_SYS_RESOURCE: without it no process is protected from the kernel's killer, and runc fails that is told to. */
async function maySetResources(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(status) ?? [];
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n;
}

function networkOf({ directory, node, bridge }: ContainerdOptions): string {
  const { bridge: gateway, prefix, pod } = addressesOf.IPv4;
  const range = {
    subnet: `${pod(0, 0)}/${prefix}`,
    rangeStart: pod(node, 2),
    rangeEnd: pod(node, 254),
    gateway,
  };
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge,
        // A member reaches itself by its Service too.
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(directory, 'addresses'),
          ranges: [[range]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });
}
