import { createHash } from 'node:crypto';
import type { Binaries } from './options.ts';

/** What a container finds in its root besides the usual directories, and what its image configures. */
export type Image = {
  readonly kind: 'etcd' | 'node' | 'pause' | 'program';
  /** Path in the container → path on this machine. */
  readonly files: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  /** The command that is run, or given to the entrypoint, when the pod has no args. */
  readonly cmd: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly runsAsRoot: boolean;
};

export type ImageLookup =
  | { readonly found: true; readonly image: Image; readonly id: string }
  | { readonly found: false; readonly reason: 'ErrImagePull' | 'InvalidImageName'; readonly message: string };

export type ImageSource = {
  readonly binaries: Binaries;
  readonly checkout: string;
  readonly nodeBinary: string;
  readonly images: Readonly<Record<string, string>>;
  readonly programs: Readonly<Record<string, string>>;
};

const reference =
  /^[a-z0-9][a-z0-9._-]*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;
const etcdRepositories = ['quay.io/coreos/etcd', 'gcr.io/etcd-development/etcd'];
const ownRepository = 'ghcr.io/etcd-ratchet/etcd-ratchet';

/** Finds what an image reference stands for; what is not known is not found, in containerd's words. */
export function lookUpImage(source: ImageSource, name: string): ImageLookup {
  if (!reference.test(name)) {
    const message = `Failed to apply default image tag "${name}": couldn't parse image name "${name}": invalid reference format`;
    return { found: false, reason: 'InvalidImageName', message };
  }
  const image = resolve(source, source.images[name] ?? name);
  if (image) return { found: true, image, id: imageId(name) };
  const message = `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`;
  return { found: false, reason: 'ErrImagePull', message };
}

function resolve({ binaries, checkout, nodeBinary, programs }: ImageSource, name: string): Image | undefined {
  const { repository, tag } = split(name);
  if (repository === 'registry.k8s.io/pause') return pause;
  if (repository === ownRepository) return ownImage(checkout, nodeBinary);
  const program = programs[name];
  if (program !== undefined) return programImage(program);
  const version = etcdVersion(repository, tag);
  const etcd = version === undefined ? undefined : binaries.etcd[version];
  if (version === undefined || etcd === undefined) return undefined;
  const etcdutl = binaries.etcdutl[version];
  return {
    ...pause,
    kind: 'etcd',
    files: {
      '/usr/local/bin/etcd': etcd,
      ...(binaries.etcdctl !== undefined && { '/usr/local/bin/etcdctl': binaries.etcdctl }),
      ...(etcdutl !== undefined && { '/usr/local/bin/etcdutl': etcdutl }),
    },
    cmd: ['/usr/local/bin/etcd'],
    // Dozens share two processors: with a thread for each an idle member takes 1.6 % of one, with a single one 1.1 %.
    env: { GOMAXPROCS: '1' },
    runsAsRoot: true,
  };
}

const pause: Image = { kind: 'pause', files: {}, entrypoint: [], cmd: [], env: {}, workingDir: '/', runsAsRoot: false };

/** As the Dockerfile says, with this checkout's bundle and our own Node. */
function ownImage(checkout: string, nodeBinary: string): Image {
  return {
    kind: 'node',
    files: { '/app': `${checkout}/dist`, '/checkout': checkout, '/usr/local/bin/node': nodeBinary },
    entrypoint: ['node', '/app/tick.js'],
    cmd: [],
    env: { NODE_ENV: 'production', NODE_COMPILE_CACHE: '/app/.compile-cache' },
    workingDir: '/tmp',
    runsAsRoot: false,
  };
}

/** One program that needs no library, as Go's are. */
function programImage(path: string): Image {
  const at = '/usr/local/bin/program';
  // Like etcd: many share two processors.
  return { ...pause, kind: 'program', files: { [at]: path }, entrypoint: [at], env: { GOMAXPROCS: '1' } };
}

function etcdVersion(repository: string, tag: string): string | undefined {
  if (etcdRepositories.includes(repository)) return /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
  if (repository === 'registry.k8s.io/etcd') return /^(\d+\.\d+\.\d+)-0$/.exec(tag)?.[1];
  return undefined;
}

/**
 * A digest without an entry of its own names bytes that we don't have: it is left in the tag, which then is unknown.
 */
function split(name: string): { repository: string; tag: string } {
  const [, repository = name, tag = 'latest'] = /^([^@]*?)(?::([^/:@]+(?:@.*)?))?$/.exec(name) ?? [];
  return { repository, tag };
}

function imageId(name: string): string {
  if (name.includes('@')) return name.replace(/:[^/:@]+@/, '@');
  return `${split(name).repository}@sha256:${createHash('sha256').update(name).digest('hex')}`;
}
