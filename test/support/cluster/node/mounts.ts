import { existsSync, readFileSync, statSync } from 'node:fs';
import { quote } from './command.ts';
import type { Image } from './images.ts';

/** A file or directory of this machine that shows up at a path of the container. */
export type Bind = { readonly source: string; readonly target: string; readonly readOnly: boolean };

export type RootPlan = {
  readonly image: Image;
  /** An empty directory on which the container's root is mounted, in the container's own mount namespace. */
  readonly root: string;
  readonly binds: readonly Bind[];
  readonly workingDir: string;
  readonly readOnly: boolean;
  /** In bytes; absent: none. */
  readonly memoryLimit?: number | undefined;
};

/** What a dynamically linked program needs; a distribution has some of these. */
const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/nix/store', '/gnu/store'];
const devices = ['null', 'zero', 'full', 'random', 'urandom'];

/** A script to run, and the mount tables that it reads. */
export type RootScript = { readonly script: string; readonly tables: ReadonlyMap<string, string> };

/**
 * The /bin/sh lines that assemble a container's root. They run in its new mount and PID namespaces: what they mount is
 * seen by nobody else and goes away with the last of its processes.
 *
 * The root is an empty tmpfs, as a new writable layer is on every start; what the image has is bound into it. One
 * process mounts a whole table: one for each mount made a start cost almost four times as much.
 */
export function rootScript({ image, root, binds, workingDir, readOnly, memoryLimit }: RootPlan): RootScript {
  const own = devices.map((name) => ({ source: `/dev/${name}`, target: `/dev/${name}`, readOnly: false }));
  const flags = readLockedFlags();
  const tables = new Map<string, string>();
  const lines = [
    `mount -t tmpfs -o mode=0755,size=1g container ${quote(root)}`,
    `cd ${quote(root)}`,
    `mkdir -p proc dev/shm tmp etc run var/tmp root usr/local/bin usr/bin bin sbin usr/sbin ${quote(`.${workingDir}`)}`,
    'chmod 1777 tmp var/tmp dev/shm',
    // Where /proc may not be mounted anew, the sandbox's own is better than none.
    'mount -t proc proc proc 2>/dev/null || mount --rbind /proc proc',
    // Links into /proc/self.
    'cp -P /dev/fd /dev/stdout /dev/stderr dev',
    `echo 'root:x:0:0:root:/root:/sbin/nologin' > etc/passwd; echo 'root:x:0:' > etc/group`,
    `echo 'hosts: files dns' > etc/nsswitch.conf`,
    ...(memoryLimit === undefined ? [] : limitLines(memoryLimit)),
  ];
  for (const layer of layersOf([...own, ...imageBinds(image), ...binds])) {
    const table = `${root}.${tables.size}.fstab`;
    tables.set(table, layer.map((bind) => tableLine(root, bind, flags)).join(''));
    lines.push(...targetLines(layer), `mount --all --fstab ${quote(table)}`);
  }
  if (readOnly) lines.push('cd /', `mount -o remount,bind,ro ${quote(root)}`);
  return { script: lines.join('\n'), tables };
}

/**
 * Where programs look for the limit of their cgroup, of either version: Node sizes its heap by it. Only the files that
 * libuv falls back to are there: which cgroup a process is in is this machine's.
 */
function limitLines(bytes: number): string[] {
  const files = ['memory.max', 'memory.high', 'memory/memory.limit_in_bytes', 'memory/memory.soft_limit_in_bytes'];
  return ['mkdir -p sys/fs/cgroup/memory', ...files.map((file) => `echo ${bytes} > sys/fs/cgroup/${file}`)];
}

/** A bind below another's target comes after it: its own target is made in what shows up there. */
function layersOf(binds: readonly Bind[]): Bind[][] {
  const layers: Bind[][] = [];
  for (const bind of binds) {
    const below = layers.findLastIndex((layer) => layer.some(({ target }) => bind.target.startsWith(`${target}/`)));
    const layer = layers[below + 1];
    if (layer) layer.push(bind);
    else layers.push([bind]);
  }
  return layers;
}

/** Directories by one process; the shell itself makes files. */
function targetLines(binds: readonly Bind[]): string[] {
  const isDirectory = ({ source }: Bind) => statSync(source).isDirectory();
  const directories = binds.map((bind) => (isDirectory(bind) ? bind.target : bind.target.replace(/\/[^/]*$/, '/')));
  const files = binds.filter((bind) => !isDirectory(bind)).map(({ target }) => quote(`.${target}`));
  return [
    `mkdir -p ${[...new Set(directories)].map((path) => quote(`.${path}`)).join(' ')}`,
    ...files.map((at) => `[ -e ${at} ] || : > ${at}`),
  ];
}

/**
 * With what is mounted below it: in a namespace of another user the kernel refuses to show a tree without its locked
 * mounts.
 */
function tableLine(root: string, { source, target, readOnly }: Bind, flags: (path: string) => string[]): string {
  const options = readOnly ? ['rbind', 'ro', ...flags(source)] : ['rbind'];
  return `${escaped(source)} ${escaped(`${root}${target}`)} none ${options.join(',')} 0 0\n`;
}

/** As fstab(5) wants what separates its fields or its lines. */
function escaped(path: string): string {
  return path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function imageBinds(image: Image): Bind[] {
  if (image.kind === 'pause') return [];
  const files = Object.entries(image.files).filter(([, source]) => existsSync(source));
  const own = files.map(([target, source]) => ({ source, target, readOnly: true }));
  if (image.kind !== 'node') return own;
  const linked = libraries
    .filter((path) => existsSync(path))
    .map((path) => ({ source: path, target: path, readOnly: true }));
  return [...linked, ...own];
}

/** In a user namespace, the flags of a mount that came from outside can't be dropped, not even by leaving them out. */
function readLockedFlags(): (path: string) => string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  return (path) => {
    let best = { point: '', options: '' };
    for (const [, , , , point = '', options = ''] of mounts) {
      const covers = point === '/' || path === point || path.startsWith(`${point}/`);
      if (covers && point.length >= best.point.length) best = { point, options };
    }
    return best.options
      .split(',')
      .filter((flag) => ['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime'].includes(flag));
  };
}
