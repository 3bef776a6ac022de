import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Job, Pod } from '../../manifests/kube-types.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';

/** What changes while something is measured: steps, Jobs and pods, each with seconds since `started`. */
export interface Trace {
  /** One line each, in the order in which it was seen. */
  stop(): readonly string[];
}

/** Watches what the API server has anyway, so that it takes next to nothing from what is measured. */
export async function trace(kube: Kube, namespaces: readonly string[], started: number): Promise<Trace> {
  const over = new AbortController();
  const lines: string[] = [];
  const last = new Map<string, string>();
  const note = (what: string, says: string) => {
    if (says === '' || last.get(what) === says) return;
    last.set(what, says);
    lines.push(`${((performance.now() - started) / 1000).toFixed(2).padStart(7)}  ${what}: ${says}`);
  };
  async function follow<T extends KubeObject>(resource: Resource, namespace: string, says: (one: T) => string) {
    const { resourceVersion = '', items } = await kube.list<T>(resource, { namespace });
    for (const one of items) last.set(`${resource.kind} ${one.metadata.name}`, says(one));
    const options = { namespace, resourceVersion, signal: over.signal };
    void (async () => {
      for await (const { type, object } of kube.watch<T>(resource, options))
        note(`${resource.kind} ${object.metadata.name}`, type === 'DELETED' ? 'gone' : says(object));
    })().catch((error: unknown) => {
      if (!over.signal.aborted) note(`watch of ${resource.kind}`, String(error));
    });
  }
  for (const namespace of namespaces) {
    await follow<Pod>(resources.pods, namespace, podInWords);
    await follow<Job>(resources.jobs, namespace, ({ status }) => ((status?.succeeded ?? 0) > 0 ? 'complete' : 'made'));
    await follow<EtcdCluster>(resources.clusters, namespace, stepInWords);
  }
  return {
    stop: () => {
      over.abort();
      return lines;
    },
  };
}

function podInWords({ metadata, spec, status }: Pod): string {
  if (metadata.deletionTimestamp !== undefined) return 'is told to end';
  const ran = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
    ({ name, state, ready }) =>
      state?.terminated ? `${name} ended` : state?.running ? `${name} ${ready ? 'is ready' : 'runs'}` : [],
  );
  return ran.join(', ') || (spec.nodeName === undefined ? 'made' : 'has a node');
}

function stepInWords({ status }: EtcdCluster): string {
  if (status?.step) return `begins ${status.step.action}`;
  const { kind = '', reason = '' } = status?.lastDecision ?? {};
  return `${kind} ${reason}`;
}
