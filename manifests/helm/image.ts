import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const [only, ...others] = (
  parse(readFileSync(new URL('../image/kustomization.yaml', import.meta.url), 'utf8')) as {
    readonly images: readonly { readonly name: string; readonly newName?: string }[];
  }
).images;
if (!only || others.length > 0) throw new Error('manifests/image names one image');

/** Ours, as manifests say it; and where it is, which manifests/image may say otherwise. */
export const image = { name: only.name, repository: only.newName ?? only.name } as const;
