import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { violate } from './invariants.ts';
import type { State } from './state.ts';

/** I16: no pod is ended where the next one would be made from what another client wrote. */
export function assertOwnTemplate(state: State, pod: KubeObject | undefined): void {
  const owner = pod?.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
  const set = state.kube.stored<StatefulSet>(resources.statefulSets).find(({ metadata }) => metadata.uid === owner);
  if (!set || set.metadata.deletionTimestamp !== undefined) return;
  if (state.changedByOthers.get(owner) === set.metadata.generation)
    violate(state, `I16: ${pod?.metadata.name} is ended, and comes back on the template of another client`);
}
