import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { addressesOf, type Families, type Family } from '../families.ts';
import { quote, run } from './command.ts';

/** The bridge that all pods hang on; the process node and the control plane reach them through it. */
export const bridge = 'pods';
/**
 * A bridge without an address of its own takes the lowest of its ports. When that pod comes or goes, all others send to
 * an address that nothing has, for up to half a minute: until their kernels ask again who the gateway is.
 */
const bridgeAddress = '02:00:0a:f4:00:01';

/** A pod's own network and UTS namespace, held by a process that does nothing (as the pause container does). */
export type PodSandbox = {
  /** Of each family, the primary one's first. */
  readonly ips: readonly [string, ...string[]];
  readonly pid: number;
  /** Takes the pod off the network, and puts it back: its processes go on, nobody hears them. */
  setLinked(linked: boolean): Promise<void>;
  destroy(): Promise<void>;
};

/**
 * Makes the bridge with one address per node. Addresses of the pod range that somebody made local to `lo` (so that
 * single processes could listen on them) would swallow the pods' traffic, so they move here.
 */
export async function createBridge(nodes: number, families: Families): Promise<void> {
  const routes = await run('ip', ['-4', '-o', 'addr', 'show', 'dev', 'lo']);
  const onLoopback = [...routes.matchAll(/inet (10\.244\.[\d.]+\/\d+)/g)].map((match) => match[1]);
  for (const address of onLoopback) await run('ip', ['addr', 'del', `${address}`, 'dev', 'lo']);
  const local = await run('ip', ['route', 'show', 'table', 'local', 'root', '10.244.0.0/16']);
  for (const [, range] of local.matchAll(/^local (10\.244\.[\d./]+) dev lo/gm)) {
    await run('ip', ['route', 'del', 'local', `${range}`, 'dev', 'lo']);
  }
  const indices = Array.from({ length: nodes }, (_, position) => position + 1);
  const addresses = families.flatMap((family) => {
    const { bridge: own, node, prefix } = addressesOf[family];
    return [own, ...indices.map(node)].map((address) => `${address}/${prefix} dev ${bridge}${atOnce(address)}`);
  });
  await run('ip', ['-batch', '-'], {
    input: [
      `link add ${bridge} address ${bridgeAddress} type bridge`,
      ...addresses.map((address) => `addr add ${address}`),
      `link set ${bridge} up`,
    ].join('\n'),
  });
}

export async function removeBridge(): Promise<void> {
  await run('ip', ['link', 'del', bridge]);
}

/** IPv6 waits a second or two for somebody else to say that an address is theirs; here there is nobody else. */
function atOnce(address: string): string {
  return address.includes(':') ? ' nodad' : '';
}

/** Hands out places 2 … 254 of a node, the one longest free first: a name server's cache must not find a stranger. */
export function createAddressPool(node: number, families: Families) {
  const free: number[] = [];
  for (let host = 2; host < 255; host++) free.push(host);
  return {
    families,
    /** @throws Error when all 253 are in use. */
    take(): PodPlace {
      const host = free.shift();
      if (host === undefined) throw new Error(`node-${node} has no free pod address left`);
      const [primary, ...others] = families;
      const of = (family: Family) => addressesOf[family].pod(node, host);
      return { host, link: `v${node}x${host}`, ips: [of(primary), ...others.map(of)] };
    },
    release({ host }: PodPlace): void {
      free.push(host);
    },
  };
}

type PodPlace = { readonly host: number; readonly link: string; readonly ips: readonly [string, ...string[]] };
export type AddressPool = ReturnType<typeof createAddressPool>;

/** @throws Error when the kernel refuses the namespaces or the link, with its words. */
export async function createPodSandbox(pool: AddressPool, hostname: string): Promise<PodSandbox> {
  const place = pool.take();
  const { link, ips } = place;
  const network = pool.families.flatMap((family, index) => {
    const { bridge: gateway, prefix } = addressesOf[family];
    return [`addr add ${ips[index]}/${prefix} dev eth0${atOnce(gateway)}`, `route add default via ${gateway}`];
  });
  // Everything in one process: from the new namespace the bridge's one is reached by our own process id.
  const script = `set -eu
    # The file is root's of the machine: a mapped root may only make the call.
    hostname ${quote(hostname)} 2>/dev/null || echo ${quote(hostname)} > /proc/sys/kernel/hostname
    ip -batch - <<END
link set lo up
link add ${link} type veth peer name eth0
link set ${link} netns ${process.pid}
link set eth0 up
${network.join('\n')}
END
    echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
    nsenter --target ${process.pid} --net ip link set ${link} master ${bridge} up
    echo ready
    exec cat`;
  try {
    // `cat` ends when our end of the pipe closes, so that no namespace outlives this process.
    const holder = spawn('unshare', ['--net', '--uts', '--ipc', 'sh', '-c', script], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await untilReady(holder, hostname);
    return {
      ips,
      pid: holder.pid ?? 0,
      setLinked: async (linked) => {
        await run('ip', ['link', 'set', link, linked ? 'up' : 'down']);
      },
      destroy: async () => {
        if (holder.exitCode === null && holder.signalCode === null) {
          holder.kill('SIGKILL');
          await once(holder, 'exit');
        }
        // The kernel drops the link with its namespace, but not at once; the name may be wanted again.
        await run('ip', ['link', 'del', link]).catch(() => undefined);
        pool.release(place);
      },
    };
  } catch (error) {
    pool.release(place);
    throw error;
  }
}

async function untilReady(holder: ChildProcess, hostname: string): Promise<void> {
  let stderr = '';
  holder.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await new Promise<void>((resolve, reject) => {
    holder.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('ready')) resolve();
    });
    holder.on('error', reject);
    holder.on('exit', () => reject(new Error(`cannot make a network for pod ${hostname}: ${stderr.trim()}`)));
  });
}
