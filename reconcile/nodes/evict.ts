import { each, type Program } from '../requests/program.ts';
import type { LeavingPod, NodeAction } from './decision.ts';
import type { NodesObservation } from './observation.ts';
import { evictPod, holdCluster, letGoCluster } from './requests/leaving.ts';
import { readNode } from './requests/objects.ts';

const parallel = 10;

/** @returns the pods that a disruption budget keeps for now */
export function* evictAll(
  { node, id, pods }: Extract<NodeAction, { kind: 'evict' }>,
  { clusters }: NodesObservation,
): Program<readonly string[]> {
  // Eviction is fenced by the pod alone: whether the node is still to be drained is read again.
  const found = yield* readNode({ name: node });
  const { granted } = found?.marks ?? {};
  if (granted?.word !== id || !found?.unschedulable || found.needed === undefined) return [];
  const keys = new Set(pods.flatMap(({ cluster }) => cluster ?? []));
  // From the observation on which this was decided, until the members leave, no step of their clusters acts.
  return yield* whileHeld(
    clusters.flatMap(({ key }) => (keys.has(key) ? [key] : [])),
    () => letAllGo(pods),
  );
}

/** @throws {StepError | KubeError} of class `precondition` where a cluster has moved since; and what `run` throws. */
function* whileHeld<T>(keys: readonly string[], run: () => Program<T>): Program<T> {
  const held: string[] = [];
  try {
    for (const key of keys) {
      yield* holdCluster({ key });
      held.push(key);
    }
    return yield* run();
  } finally {
    for (const key of held) yield* letGoCluster({ key });
  }
}

/** All of them have ended by then, so no eviction is under way when the clusters are let go. */
function* letAllGo(pods: readonly LeavingPod[]): Program<readonly string[]> {
  const ends: LetGo[] = [];
  for (let first = 0; first < pods.length; first += parallel)
    ends.push(...(yield* each(pods.slice(first, first + parallel), letGo)));
  for (const { failure } of ends) if (failure) throw failure;
  return ends.flatMap(({ kept }) => kept ?? []);
}

interface LetGo {
  readonly kept?: string;
  readonly failure?: unknown;
}

function* letGo(pod: LeavingPod): Program<LetGo> {
  try {
    return (yield* evictPod({ pod })) ? { kept: `${pod.namespace}/${pod.name}` } : {};
  } catch (error) {
    return { failure: error };
  }
}
