import type { keyOf } from '../../reconcile/fleet/names.ts';
import type { Viewer } from './access.ts';
import type { LiveWorld } from './read.ts';

export interface Sight extends LiveWorld {
  /** Something may be there that this viewer may not see. */
  readonly partial: boolean;
}

/** Most namespaces to ask about for a user without rights to all of them: each takes two API requests. */
const mostNamespaces = 200;

/** @throws {KubeError} */
export async function sightOf(viewer: Viewer, world: LiveWorld): Promise<Sight> {
  const [fleets, clusters] = await Promise.all([
    visible(viewer, 'etcdfleets', world.fleets),
    visible(viewer, 'etcdclusters', world.clusters),
  ]);
  const unseen = [...world.leftOut].map(([namespace, why]) => ({ metadata: { namespace, name: '' }, why }));
  const leftOut = (await visible(viewer, 'etcdclusters', unseen)).items;
  return {
    fleets: fleets.items,
    clusters: clusters.items,
    leftOut: new Map(leftOut.map(({ metadata, why }) => [metadata.namespace, why])),
    partial: fleets.partial || clusters.partial,
  };
}

type Named = Parameters<typeof keyOf>[0];

async function visible<T extends Named>(
  viewer: Viewer,
  resource: 'etcdfleets' | 'etcdclusters',
  items: readonly T[],
): Promise<{ readonly items: readonly T[]; readonly partial: boolean }> {
  if (await viewer.may({ verb: 'list', resource })) return { items, partial: false };
  const namespaces = [...new Set(items.map(({ metadata }) => metadata.namespace ?? ''))].slice(0, mostNamespaces);
  const open = new Set<string>();
  await Promise.all(
    namespaces.map(async (namespace) => {
      if (await viewer.may({ verb: 'list', resource, namespace })) open.add(namespace);
    }),
  );
  return { items: items.filter(({ metadata }) => open.has(metadata.namespace ?? '')), partial: true };
}
