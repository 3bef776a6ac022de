import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { outdatedBackups } from './backups.ts';
import { outlived } from './former.ts';
import type { Consent } from './person.ts';
import { lacking, type State } from './state.ts';

/** What people do by commit, or to the resource itself. */
export type Change =
  | { readonly what: string; readonly spec: Partial<EtcdClusterSpec> }
  | { readonly what: string; readonly resource: 'deleted' | 'applied'; readonly spec?: Partial<EtcdClusterSpec> };

/** In the order of a scenario: by commit, or by a person who does what a refusal says. */
export type Turn = Change | Consent;

export function commit(state: State, change: Change): State {
  const { cluster, places } = state.world;
  const left = { ...state.left, changes: state.left.changes - 1 };
  const looked = state.looked && { ...state.looked, stale: true };
  const base = { ...state, left, ...(looked && { looked }) };
  const generation = cluster.generation + 1;
  if (!('resource' in change)) {
    const spec = { ...cluster.spec, ...change.spec };
    const memory = lacking(cluster.memory, 'failedJoins');
    const wakes = cluster.spec.replicas === 0 && spec.replicas > 0;
    const world = outdatedBackups(state.world, (before) => wakes && before === 'hibernation');
    return { ...base, world: { ...world, cluster: { ...cluster, spec, generation, memory } } };
  }
  if (change.resource === 'deleted') {
    if (cluster.gone || cluster.deleting) return base;
    return { ...base, world: { ...state.world, cluster: { ...cluster, deleting: true } } };
  }
  // As long as the old one is there, it can not be applied again.
  if (!cluster.gone) return base;
  const spec = { ...cluster.spec, ...change.spec };
  const fresh = { spec, generation, uid: `cluster-${generation}`, memory: {} };
  const leftovers = places.map((place) =>
    place.peer ? { ...lacking(place, 'ill'), peer: { ...place.peer, current: false } } : lacking(place, 'ill'),
  );
  const shared = Object.fromEntries(
    Object.entries(state.world.shared).map(([kind, view]) => [
      kind,
      view.state === 'present' ? { ...view, state: 'leftover' } : view,
    ]),
  ) as unknown as State['world']['shared'];
  const world = outdatedBackups(state.world, () => true);
  return outlived({ ...base, world: { ...world, shared, cluster: fresh, places: leftovers } });
}
