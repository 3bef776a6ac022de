import type { ObjectMeta } from '../../manifests/api/metadata.ts';
import { KubeError, type Resource } from '../../reconcile/interfaces/kube.ts';
import { type ClusterNews, writeEvent } from '../../reconcile/objects/event.ts';
import type { PassContext } from './pass-context.ts';

/** An event is kept for an hour. */
const hourMs = 3_600_000;

/** Says it once an hour where its users look. Never throws for what the API server says. */
export async function tellHourly(
  { kube, log, signal }: Pick<PassContext, 'kube' | 'log' | 'signal'>,
  id: string,
  told: { readonly about: { readonly metadata: ObjectMeta }; readonly kind?: Resource; readonly news: ClusterNews },
): Promise<void> {
  const at = kube.now() ?? new Date();
  const options = {
    id: `${id}-${Math.floor(at.getTime() / hourMs)}`,
    at,
    signal,
    ...(told.kind && { about: told.kind }),
  };
  await writeEvent(kube, told.about, told.news, options).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
    const { namespace, name } = told.about.metadata;
    if (error.reason !== 'AlreadyExists') log({ namespace, name, problem: error.message }, 'no event says so there');
  });
}
