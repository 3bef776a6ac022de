import { labels } from '../../../manifests/render/names.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Change, changeOf } from './change.ts';

/** An API client that notes what a pass was told by the API server: the only thing that makes a later hint no news. */
export interface Seeing {
  readonly kube: Kube;
  /** What was seen of the objects of these clusters (`<namespace>/<name>`). */
  of(clusters: ReadonlySet<string>): readonly Change[];
}

const noted: readonly Resource[] = [resources.pods, resources.volumeClaims, resources.statefulSets];

export function seeing(kube: Kube): Seeing {
  const seen: { readonly cluster: string; readonly change: Change }[] = [];
  return {
    kube: {
      ...kube,
      list: async <T extends KubeObject>(...[resource, options]: Parameters<Kube['list']>) => {
        const listed = await kube.list<T>(resource, options);
        if (!noted.includes(resource)) return listed;
        for (const object of listed.items) {
          const { namespace, labels: own } = object.metadata;
          const change = changeOf({ ...object, kind: resource.kind }, false);
          if (change && change.matter !== '') seen.push({ cluster: `${namespace}/${own?.[labels.cluster]}`, change });
        }
        return listed;
      },
    },
    of: (clusters) => seen.flatMap(({ cluster, change }) => (clusters.has(cluster) ? [change] : [])),
  };
}
