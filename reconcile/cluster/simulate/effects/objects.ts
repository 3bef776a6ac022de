import type { SharedObject } from '../../actions.ts';
import { volumesFinalizer } from '../../marks.ts';
import type { Shared } from '../../observation.ts';
import { type Effect, type EffectsOf, wave } from '../effect.ts';

/** What is the cluster's, and no member's. */

export const setFinalizer: EffectsOf<'set-finalizer'> = ({ present }) =>
  wave((observation) => {
    const { metadata } = observation.cluster;
    const others = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== volumesFinalizer);
    const finalizers = present ? [...others, volumesFinalizer] : others;
    return { ...observation, cluster: { ...observation.cluster, metadata: { ...metadata, finalizers } } };
  });

export const applyShared: EffectsOf<'apply-shared'> = ({ objects, minAvailable }) =>
  wave(...objects.map((kind) => applyOne(kind, minAvailable)));

const keyOf = {
  'headless-service': 'headlessService',
  'client-service': 'clientService',
  'disruption-budget': 'disruptionBudget',
} as const satisfies Record<SharedObject, keyof Shared>;

/** Somebody else's is left alone. A budget that nobody needs is deleted. */
function applyOne(kind: SharedObject, minAvailable: number): Effect {
  return (observation) => {
    const key = keyOf[kind];
    const { state } = observation.shared[key];
    if (state === 'foreign' || state === 'leftover') return observation;
    const isBudget = kind === 'disruption-budget';
    const view =
      isBudget && minAvailable === 0
        ? { state: 'missing' as const }
        : { state: 'present' as const, ...(isBudget && { minAvailable }) };
    return { ...observation, shared: { ...observation.shared, [key]: view } };
  };
}
