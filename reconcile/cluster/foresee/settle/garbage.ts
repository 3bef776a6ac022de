import { hasOutlasted } from '../../know/health/grace.ts';
import type { Observation, Shared, SharedView, Slot } from '../../know/observation.ts';
import { type Effect, without } from '../effect.ts';
import { withLeavesOf } from '../leaves.ts';

/** Garbage collection, and what waits for finalizers. */

/** An object without its owner is deleted; an object that never had one stays. */
export const collectGarbage: Effect = (observation) => {
  const collected = observation.slots.reduce(collectIn, observation);
  return withoutLeftovers(collected === observation ? observation : withLeavesOf(collected));
};

function collectIn(observation: Observation, { name, peer, volume, configMap, statefulSet }: Slot): Observation {
  const isOrphaned = !peer || isOver(peer);
  const keys = [
    ...(isOver(peer) ? (['peer'] as const) : []),
    ...(isOver(configMap) || ((configMap?.byPeer ? isOrphaned : !volume) && configMap?.current)
      ? (['configMap'] as const)
      : []),
    ...(isOver(statefulSet) || (isOrphaned && statefulSet?.current) ? (['statefulSet'] as const) : []),
  ];
  return keys.length > 0 ? without(observation, name, ...keys) : observation;
}

function isOver(view: { readonly leaving: boolean; readonly current: boolean; readonly foreign?: true } | undefined) {
  return view !== undefined && !view.foreign && (view.leaving || !view.current);
}

/** Services and Secrets of an earlier namesake. */
function withoutLeftovers(observation: Observation): Observation {
  const { shared, certificates } = observation;
  const isLeftover = ({ state }: { readonly state: SharedView['state'] }) => state === 'leftover';
  const secrets = certificates.kind === 'read' ? certificates.leaves : [];
  if (![...Object.values(shared), ...secrets].some(({ state }) => state === 'leftover')) return observation;
  const gone: SharedView = { state: 'missing' };
  return {
    ...observation,
    shared: mapped(shared, (view) => (isLeftover(view) ? gone : view)),
    ...(certificates.kind === 'read' && {
      certificates: {
        ...certificates,
        leaves: secrets.map((leaf) => {
          if (leaf.state !== 'leftover') return leaf;
          const { facts: _, served: __, ...rest } = leaf;
          return { ...rest, state: 'missing' as const };
        }),
      },
    }),
  };
}

function mapped(shared: Shared, by: (view: SharedView) => SharedView): Shared {
  return Object.fromEntries(Object.entries(shared).map(([key, view]) => [key, by(view)])) as unknown as Shared;
}

/** Pods that are deleted end, unless they should have ended long ago, and so do those whose StatefulSet has gone. */
export const endPods: Effect = (observation) =>
  observation.slots.reduce(
    (seen, slot) => (isEnding(slot, observation) ? without(seen, slot.name, 'pod') : seen),
    observation,
  );

/** As on a node that is dead: what did not end in its time does not end now. */
function isEnding({ pod, statefulSet }: Slot, observation: Observation): boolean {
  if (!pod) return false;
  return pod.leaving ? pod.endsBy === undefined || !hasOutlasted({ pod }, observation) : !statefulSet;
}

/** PVCs that are deleted go when no pod that has a node uses them. */
export const dropVolumes: Effect = (observation) =>
  observation.slots.reduce(
    (seen, { name, volume, pod }) =>
      volume?.leaving && (!pod || pod.unscheduled !== undefined) ? without(seen, name, 'volume') : seen,
    observation,
  );
