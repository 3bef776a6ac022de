import type { Pod } from '../../manifests/kube-types.ts';
import { publishedImage } from '../../manifests/release.ts';
import { isReason, type Kube, resources } from '../interfaces/kube.ts';

/** The image of this very step, so that its Jobs use a mirrored or patched one; from a command line this release's. */
export async function ownImage(
  kube: Kube,
  { pod, uid }: { readonly pod: string; readonly uid: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  const [namespace, name] = pod.split('/');
  if (!namespace || !name) return publishedImage;
  try {
    const found = await kube.get<Pod>(resources.pods, namespace, name, { signal });
    const image = found?.metadata.uid === uid ? found?.spec.containers[0]?.image : undefined;
    return image ?? publishedImage;
  } catch (error) {
    if (isReason(error, 'Forbidden')) return publishedImage;
    throw error;
  }
}
