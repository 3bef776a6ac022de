import type { Pod } from '../../../manifests/kube-types.ts';
import { etcdContainer } from '../../../manifests/render/names.ts';

/** What a live pod says about itself: asked when observing, and again just before a step does anything to it. */

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Of the template that it was made from. */
export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.['controller-revision-hash'];
}

/** Of etcd, by its image's tag, which follows the version; `undefined` where the tag says something else. */
export function versionOf({ spec }: Pod): string | undefined {
  const image = spec.containers.find(({ name }) => name === etcdContainer)?.image ?? '';
  return /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1];
}
