import type { SetDrift } from '../../../reconcile/cluster/know/observation.ts';
import type { Inputs } from '../../../reconcile/cluster/know/spec/inputs.ts';
import type { Fault } from './fault.ts';
import { type Place, type World, withPlace } from './state.ts';

/** Other clients that write into StatefulSets of ours: their labels and our annotations stay as they were. */

type Set = NonNullable<Place['statefulSet']>;

const by = 'an image updater';
const template: SetDrift = { kind: 'changed', fields: ['spec.template'], by };
const scale: SetDrift = { kind: 'changed', fields: ['spec.replicas'], by, replicas: 0 };

/** Of a pod that was made of what another client wrote. */
const ofAnother = 'of another client';

export const handFaults = {
  hand: {
    what: 'another client changes the template of StatefulSet #',
    strike: (world, place) => changed(world, place, template),
  },
  scale: {
    what: 'another client scales StatefulSet # to 0',
    strike: (world, place) => changed(world, place, scale),
  },
} as const satisfies Readonly<Record<'hand' | 'scale', Fault>>;

function changed(world: World, { name, statefulSet }: Place, drift: SetDrift): World | undefined {
  if (!statefulSet?.current || statefulSet.drift) return undefined;
  const inputs: Inputs = { ...statefulSet.inputs, etcd: { snapshotCount: 4321 } };
  const written: Set =
    drift === template ? { ...statefulSet, drift, inputs, updateRevision: ofAnother } : { ...statefulSet, drift };
  return withPlace(world, name, (place) => ({ ...place, statefulSet: written }));
}

/** What a pod is made of now, as its controller names it. */
export function templateOf({ drift, inputsHash }: Set): string {
  return drift === template ? ofAnother : inputsHash;
}

export function asksForNoPod(set: Set | undefined): boolean {
  return set?.drift === scale;
}

/** I16: no pod is ended where its StatefulSet would make the next one of what another client wrote. */
export function isOnAnotherTemplate(before: Place, after: Place | undefined): boolean {
  const ends = before.pod && !before.pod.leaving && (after?.pod === undefined || after.pod.leaving);
  return ends === true && before.statefulSet?.drift === template && after?.statefulSet !== undefined;
}
