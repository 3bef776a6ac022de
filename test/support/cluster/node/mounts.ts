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
};

/** What a dynamically linked program needs; a distribution has some of these. */
const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/nix/store', '/gnu/store'];
const devices = ['null', 'zero', 'full', 'random', 'urandom'];

/**
 * The /bin/sh lines that assemble a container's root. They run in its new mount and PID namespaces: what they mount is
 * seen by nobody else and goes away with the last of its processes.
 *
 * The root is an empty tmpfs, as a new writable layer is on every start; what the image has is bound into it.
 */
export function rootScript({ image, root, binds, workingDir, readOnly }: RootPlan): string {
  const all = [...imageBinds(image), ...binds];
  const lines = [
    `mount -t tmpfs -o mode=0755,size=1g container ${quote(root)}`,
    `cd ${quote(root)}`,
    'mkdir -p proc dev/shm tmp etc run var/tmp root usr/local/bin usr/bin bin sbin usr/sbin',
    'chmod 1777 tmp var/tmp dev/shm',
    // Where /proc may not be mounted anew, the sandbox's own is better than none.
    'mount -t proc proc proc 2>/dev/null || mount --rbind /proc proc',
    ...devices.map((device) => `: > dev/${device}; mount --bind /dev/${device} dev/${device}`),
    'ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr',
    `echo 'root:x:0:0:root:/root:/sbin/nologin' > etc/passwd; echo 'root:x:0:' > etc/group`,
    `echo 'hosts: files dns' > etc/nsswitch.conf`,
    ...all.flatMap((bind) => bindLines(bind)),
    `mkdir -p ${quote(`.${workingDir}`)}`,
  ];
  if (readOnly) lines.push('cd /', `mount -o remount,bind,ro ${quote(root)}`);
  return lines.join('\n');
}

function imageBinds(image: Image): Bind[] {
  if (image.kind === 'pause') return [];
  const files = Object.entries(image.files).filter(([, source]) => existsSync(source));
  const own = files.map(([target, source]) => ({ source, target, readOnly: true }));
  if (image.kind === 'etcd') return own;
  const linked = libraries
    .filter((path) => existsSync(path))
    .map((path) => ({ source: path, target: path, readOnly: true }));
  return [...linked, ...own];
}

function bindLines({ source, target, readOnly }: Bind): string[] {
  const at = quote(`.${target}`);
  const make = statSync(source).isDirectory()
    ? `mkdir -p ${at}`
    : `mkdir -p ${quote(`.${target.replace(/\/[^/]*$/, '/')}`)}; [ -e ${at} ] || : > ${at}`;
  // With what is mounted below it: in a namespace of another user the kernel refuses to show a tree without its locked
  // mounts.
  const lines = [make, `mount --rbind ${quote(source)} ${at}`];
  if (readOnly) lines.push(`mount -o ${['remount', 'bind', 'ro', ...lockedFlags(source)].join(',')} ${at}`);
  return lines;
}

/** In a user namespace, the flags of a mount that came from outside can't be dropped, not even by leaving them out. */
function lockedFlags(path: string): string[] {
  let best = { point: '', options: '' };
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [, , , , point = '', options = ''] = line.split(' ');
    const covers = point === '/' || path === point || path.startsWith(`${point}/`);
    if (covers && point.length >= best.point.length) best = { point, options };
  }
  return best.options
    .split(',')
    .filter((flag) => ['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime'].includes(flag));
}
