import type { ObjectMeta } from '../../manifests/api/metadata.ts';
import { KubeError, type Resource } from '../../reconcile/interfaces/kube.ts';
import { type ClusterNews, writeEvent } from '../../reconcile/objects/event.ts';
import type { PassContext } from './pass-context.ts';

export type Teller = Pick<PassContext, 'kube' | 'log' | 'signal'>;

export interface Told {
  readonly about: { readonly metadata: ObjectMeta };
  /** Absent: a cluster. */
  readonly kind?: Resource;
  readonly news: ClusterNews;
}

/** Writes an event, once for each ID. Never throws for what the API server says: that is in the log. */
export async function tellEvent(
  { kube, log, signal }: Teller,
  { about, kind, news }: Told,
  { id, at }: { readonly id: string; readonly at: Date },
): Promise<void> {
  try {
    await writeEvent(kube, about, news, { id, at, signal, ...(kind && { about: kind }) });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const { namespace, name } = about.metadata;
    if (error.reason !== 'AlreadyExists') log({ namespace, name, problem: error.message }, 'no event says so there');
  }
}
