import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the image specification of the Open Container Initiative calls its parts. */
export const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string; readonly variant?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Index {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly manifests: readonly Descriptor[];
}

export interface Manifest {
  readonly schemaVersion: 2;
  readonly mediaType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ImageConfig {
  readonly config?: {
    readonly Env?: readonly string[];
    readonly Labels?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
  readonly [key: string]: unknown;
}

/** Contents by their digest, as an image layout keeps them. */
export type Blobs = Map<string, Uint8Array>;

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Adds a content, and describes it. */
export function put(blobs: Blobs, mediaType: string, content: Uint8Array | object): Descriptor {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  const digest = digestOf(bytes);
  blobs.set(digest, bytes);
  return { mediaType, digest, size: bytes.length };
}

/** The content of a descriptor in a layout on disk. @throws where it is not there, or something else is */
export async function blobIn(layout: string, { digest }: Pick<Descriptor, 'digest'>): Promise<Buffer> {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(digest) ?? [];
  if (hex === undefined) throw new Error(`${layout} names a content by ${JSON.stringify(digest)}, which is no SHA-256`);
  const content = await readFile(join(layout, 'blobs/sha256', hex));
  if (digestOf(content) !== digest) throw new Error(`${layout} has another content under ${digest}`);
  return content;
}

/** The one index of a layout, and its digest. @throws unless there is exactly one */
export async function indexIn(layout: string): Promise<{ readonly index: Index; readonly digest: string }> {
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as Index;
  const [only, ...others] = manifests;
  if (only?.mediaType !== types.index || others.length > 0)
    throw new Error(`${layout} is not the layout of one image for several platforms: copy it with all of them`);
  return { index: JSON.parse((await blobIn(layout, only)).toString()) as Index, digest: only.digest };
}
