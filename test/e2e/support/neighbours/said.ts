import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../../manifests/api/etcd-fleet.ts';
import { type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Installation } from './installation.ts';

type Told = EtcdCluster | EtcdFleet;

export interface Said extends AsyncDisposable {
  /**
   * Each condition that clusters and fleets of that namespace have had, like `EtcdCluster Ready True`, and each state
   * of their commits, with all words that it was said with.
   */
  readonly all: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Hears what is said from now on, by watches: what was said for a moment only counts as well. */
export async function listen({ kube, forge }: Installation, namespace: string): Promise<Said> {
  const heard = new Map<string, Set<string>>();
  const hold = (what: string, words: string) => heard.set(what, (heard.get(what) ?? new Set()).add(words));
  const leaving = new AbortController();
  const before = forge.statuses.length;
  const hear = async (resource: Resource, resourceVersion: string) => {
    const options = { namespace, resourceVersion, signal: leaving.signal };
    for await (const { object } of kube.watch<Told>(resource, options))
      for (const { type, status, reason, message } of object.status?.conditions ?? [])
        hold(`${resource.kind} ${type} ${status}${type === 'Stalled' ? ` ${reason}` : ''}`, `${reason}: ${message}`);
  };
  const hearing = [resources.clusters, resources.fleets].map(async (resource) => {
    const { resourceVersion } = await kube.list<Told>(resource, { namespace });
    return hear(resource, resourceVersion).then(
      () => {
        if (!leaving.signal.aborted) hold(`${resource.kind} was not watched to the end`, '');
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) throw error;
      },
    );
  });
  return {
    get all() {
      const all = new Map(heard);
      const said = forge.statuses.slice(before);
      for (const { state, description } of said)
        all.set(`commit ${state}`, new Set(all.get(`commit ${state}`)).add(description));
      return all;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await Promise.all(hearing);
    },
  };
}
