import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { wait } from './decision.ts';
import { failureOf } from './outcome.ts';
import type { ClusterResult } from './result.ts';
import { type ClusterObjects, readObjects } from './snapshot.ts';
import { type StepContext, step } from './step.ts';

/** Steps under way at once. Each is mostly waiting; more would only queue at the API server. */
const parallel = 32;

/**
 * One step for each of these clusters: a LIST per kind for all of them, then the steps side by side.
 *
 * @param scope.clusters freshly listed, before anything else that the steps look at.
 * @throws {KubeError} when not even the lists could be read; a single cluster's failure is in its result.
 */
export async function stepClusters(
  context: StepContext,
  scope: { readonly namespace?: string | undefined; readonly clusters: readonly EtcdCluster[] },
): Promise<ClusterResult[]> {
  const waiting = [
    ...(await readObjects(context.kube, scope.clusters, { namespace: scope.namespace, signal: context.signal })),
  ];
  const results: ClusterResult[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await stepOne(context, next));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results.toSorted((a, b) => `${a.namespace}/${a.name}`.localeCompare(`${b.namespace}/${b.name}`));
}

async function stepOne(context: StepContext, objects: ClusterObjects): Promise<ClusterResult> {
  const { namespace = '', name } = objects.cluster.metadata;
  try {
    const result = await step(context, objects);
    const { kind, reason, message } = result.decision;
    context.log(
      { cluster: `${namespace}/${name}`, decision: kind, reason, outcome: result.outcome, problem: result.problem },
      message,
    );
    return result;
  } catch (error) {
    const { message } = failureOf(error);
    context.log(
      { cluster: `${namespace}/${name}`, outcome: 'failed', problem: message },
      'the step could not be taken',
    );
    return {
      namespace,
      name,
      decision: wait('StepFailed', message, { on: 'time', afterSeconds: 5 }),
      outcome: 'failed',
      problem: message,
      workRemains: true,
      cluster: objects.cluster,
    };
  }
}
