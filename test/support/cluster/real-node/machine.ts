import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressesOf } from '../families.ts';
import { run } from '../node/command.ts';

/**
 * Directories that kubelet, containerd's shims and CNI plugins write to by names that none of them can be told. The run
 * sees the machine's, and writes to its own.
 */
const overlaid = ['/run', '/var/lib', '/var/log'] as const;

/** What kubelet sets, of the whole machine: the run has files of its own in their place. */
const tunables = [
  'kernel/keys/root_maxbytes',
  'kernel/keys/root_maxkeys',
  'kernel/panic',
  'kernel/panic_on_oops',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
] as const;

/** In the sandbox, once: what is mounted and set from now on is seen by this run alone. */
export async function prepareMachine(directory: string): Promise<void> {
  await run('mount', ['--make-rshared', '/']);
  for (const path of overlaid) {
    const own = join(directory, 'overlays', path);
    const [upper, work] = [join(own, 'upper'), join(own, 'work')];
    await mkdir(upper, { recursive: true });
    await mkdir(work, { recursive: true });
    await run('mount', [
      ...['-t', 'overlay', 'real-node'],
      ...['-o', `lowerdir=${path},upperdir=${upper},workdir=${work}`, path],
    ]);
  }
  for (const name of tunables) {
    const path = join('/proc/sys', name);
    const own = join(directory, 'sysctl', name.replaceAll('/', '.'));
    await mkdir(join(directory, 'sysctl'), { recursive: true });
    await writeFile(own, await readFile(path));
    await run('mount', ['--bind', own, path]);
  }
}

/**
 * Services' addresses are kube-proxy's here, but for those that something listens on itself: packets to the others go
 * to the bridge, and are turned round on their way.
 */
export async function prepareServices(bridge: string): Promise<void> {
  const { services, apiServer, dns } = addressesOf.IPv4;
  await run('ip', ['-batch', '-'], {
    input: [
      `addr del ${apiServer}/16 dev lo`,
      `addr add ${apiServer}/32 dev lo`,
      `addr add ${dns}/32 dev lo`,
      `route add ${services} dev ${bridge}`,
    ].join('\n'),
  });
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  await writeFile('/proc/sys/net/bridge/bridge-nf-call-iptables', '1');
}

const hierarchies = '/sys/fs/cgroup';

/** A cgroup of this run in each hierarchy that has controllers. The sandbox removes them. */
export async function makeCgroup(name: string): Promise<void> {
  if (existsSync(join(hierarchies, 'cgroup.controllers'))) return await makeUnified(name);
  const found = await readFile('/proc/self/mountinfo', 'utf8');
  for (const [, path = ''] of found.matchAll(/^(?:\S+ ){4}(\/sys\/fs\/cgroup\/\S+) .* - cgroup /gm)) {
    const own = join(path, name);
    await mkdir(own, { recursive: true });
    // A cpuset is made empty, and takes no process before it is told of processors and memory.
    for (const set of ['cpuset.cpus', 'cpuset.mems'].filter((one) => existsSync(join(path, one))))
      await writeFile(join(own, set), await readFile(join(path, set)));
  }
}

async function makeUnified(name: string): Promise<void> {
  const own = join(hierarchies, name);
  await mkdir(own, { recursive: true });
  const controllers = (await readFile(join(hierarchies, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  const all = controllers.map((one) => `+${one}`).join(' ');
  for (const directory of [hierarchies, own]) await writeFile(join(directory, 'cgroup.subtree_control'), all);
}
