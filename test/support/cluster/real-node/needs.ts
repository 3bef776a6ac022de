import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ProvisionError } from '../binaries/error.ts';

/** What a real node needs of the machine, by the names of Debian's and Ubuntu's packages. */
const programs: Readonly<Record<string, readonly string[]>> = {
  containerd: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
  runc: ['runc'],
  iptables: ['iptables', 'iptables-save', 'iptables-restore'],
  mount: ['mount', 'umount'],
  tar: ['tar'],
};

/** Root's PATH has these; that of sudo, or of a person who became root, may not. */
export const administration = ['/usr/sbin', '/sbin'] as const;

const plugins = { package: 'containernetworking-plugins', names: ['bridge', 'host-local', 'loopback'] } as const;
/** Where Debian has them, and where everybody else has. */
const pluginDirectories = ['/usr/lib/cni', '/opt/cni/bin'] as const;

/** Of a machine. */
export interface Machine {
  readonly isRoot: boolean;
  hasProgram(name: string): boolean;
  hasFile(path: string): boolean;
  /** Of the kernel. */
  readonly fileSystems: string;
}

/** @throws {ProvisionError} naming all that is missing, and what to install. @returns where the CNI plugins are */
export function needRealNode(machine: Machine = thisMachine()): { readonly cniPlugins: string } {
  if (!machine.isRoot)
    throw new ProvisionError('a real node needs root: it makes users, mounts and cgroups', 'run it with sudo');
  const absent = Object.entries(programs).filter(([, names]) => !names.every((name) => machine.hasProgram(name)));
  const cniPlugins = pluginDirectories.find((directory) =>
    plugins.names.every((name) => machine.hasFile(join(directory, name))),
  );
  const packages = [...absent.map(([name]) => name), ...(cniPlugins === undefined ? [plugins.package] : [])];
  if (packages.length > 0 || cniPlugins === undefined) {
    const without = [...absent.flatMap(([, names]) => names.filter((name) => !machine.hasProgram(name)))];
    if (cniPlugins === undefined) without.push(`the CNI plugins ${plugins.names.join(', ')}`);
    throw new ProvisionError(
      `a real node needs what this machine does not have: ${without.join(', ')}`,
      `apt-get install ${packages.join(' ')}`,
    );
  }
  const modules = [
    ...(/\boverlay\b/.test(machine.fileSystems) ? [] : ['overlay']),
    ...(machine.hasFile('/proc/sys/net/bridge/bridge-nf-call-iptables') ? [] : ['br_netfilter']),
  ];
  if (modules.length > 0)
    throw new ProvisionError(
      `a real node needs parts of the kernel that are not loaded: ${modules.join(', ')}`,
      `modprobe -a ${modules.join(' ')}`,
    );
  return { cniPlugins };
}

function thisMachine(): Machine {
  const directories = [...(process.env.PATH ?? '').split(delimiter), ...administration];
  return {
    isRoot: process.getuid?.() === 0,
    hasProgram: (name) => directories.some((directory) => isExecutable(join(directory, name))),
    hasFile: existsSync,
    fileSystems: readFileSync('/proc/filesystems', 'utf8'),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
