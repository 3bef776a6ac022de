import { createHash } from 'node:crypto';
import type { Binaries } from './options.ts';

/** What a container finds in its root besides the usual directories. */
export type Image =
  | { readonly kind: 'etcd'; readonly version: string; readonly files: Readonly<Record<string, string>> }
  | { readonly kind: 'node'; readonly files: Readonly<Record<string, string>> }
  | { readonly kind: 'pause' };

export type ImageLookup =
  | { readonly found: true; readonly image: Image; readonly id: string }
  | { readonly found: false; readonly reason: 'ErrImagePull' | 'InvalidImageName'; readonly message: string };

export type ImageSource = {
  readonly binaries: Binaries;
  readonly checkout: string;
  readonly nodeBinary: string;
  readonly images: Readonly<Record<string, string>>;
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

function resolve({ binaries, checkout, nodeBinary }: ImageSource, name: string): Image | undefined {
  const { repository, tag } = split(name);
  if (repository === 'registry.k8s.io/pause') return { kind: 'pause' };
  if (repository === ownRepository) {
    return {
      kind: 'node',
      files: { '/app': `${checkout}/dist`, '/checkout': checkout, '/usr/local/bin/node': nodeBinary },
    };
  }
  const version = etcdVersion(repository, tag);
  const etcd = version === undefined ? undefined : binaries.etcd[version];
  if (version === undefined || etcd === undefined) return undefined;
  const etcdutl = binaries.etcdutl[version];
  return {
    kind: 'etcd',
    version,
    files: { '/usr/local/bin/etcd': etcd, ...(etcdutl !== undefined && { '/usr/local/bin/etcdutl': etcdutl }) },
  };
}

function etcdVersion(repository: string, tag: string): string | undefined {
  if (etcdRepositories.includes(repository)) return /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
  if (repository === 'registry.k8s.io/etcd') return /^(\d+\.\d+\.\d+)-0$/.exec(tag)?.[1];
  return undefined;
}

/** A digest without an entry of its own names bytes that we don't have: it is left in the tag, which then is unknown. */
function split(name: string): { repository: string; tag: string } {
  const [, repository = name, tag = 'latest'] = /^([^@]*?)(?::([^/:@]+(?:@.*)?))?$/.exec(name) ?? [];
  return { repository, tag };
}

function imageId(name: string): string {
  if (name.includes('@')) return name.replace(/:[^/:@]+@/, '@');
  return `${split(name).repository}@sha256:${createHash('sha256').update(name).digest('hex')}`;
}
