import { ordinalOf } from '../../../manifests/render/names.ts';
import type { Observation, Slot } from '../know/observation.ts';
import { madeSoFar, silenced } from './knowledge.ts';

/**
 * What one write of an action changes in what is seen: the object, or the entry of the member list, that it writes, and
 * nothing that controllers, kubelets and etcd do in response (`settle.ts`).
 *
 * Like the write itself it finds the world as it is by then: a POST of what is there, and a PUT or DELETE of what has
 * gone, change nothing.
 */
export type Effect = (observation: Observation) => Observation;

export function slotOf({ slots }: Pick<Observation, 'slots'>, name: string): Slot | undefined {
  return slots.find((slot) => slot.name === name);
}

/** Changes what is there of one ordinal; where nothing is, nothing. All other slots stay the very same objects. */
export function onSlot(name: string, change: (slot: Slot, observation: Observation) => Slot): Effect {
  return (observation) => {
    const slot = slotOf(observation, name);
    if (!slot) return observation;
    const changed = change(slot, observation);
    return changed === slot ? observation : replaced(observation, changed);
  };
}

export function replaced(observation: Observation, slot: Slot): Observation {
  return { ...observation, slots: observation.slots.map((other) => (other.name === slot.name ? slot : other)) };
}

type ObjectKey = 'peer' | 'volume' | 'configMap' | 'statefulSet' | 'pod';

export interface Fresh {
  readonly uid: string;
  readonly leaving: false;
}

/** A POST: what has the name already stays. */
export function create<K extends ObjectKey>(
  name: string,
  key: K,
  build: (fresh: Fresh, slot: Slot, observation: Observation) => Slot[K],
): Effect {
  return (observation) => {
    const found = slotOf(observation, name);
    if (found?.[key]) return observation;
    const ordinal = ordinalOf(observation.cluster.metadata.name, name);
    if (ordinal === undefined) return observation;
    const slot: Slot = found ?? { name, ordinal, endpoint: nothingThere };
    const made = madeSoFar(observation) + 1;
    const object = build({ uid: `${key}-${name}-made-${made}`, leaving: false }, slot, observation);
    if (!object) return observation;
    const filled = { ...slot, [key]: object };
    const others = observation.slots.filter((other) => other.name !== name);
    const slots = [...others, filled].sort((a, b) => a.ordinal - b.ordinal);
    const next: Observation & { readonly made: number } = { ...observation, slots, made };
    return next;
  };
}

const nothingThere = { kind: 'unknown', cause: 'nothing runs there' } as const;

/** Without these objects; without all of them there is no slot either. */
export function without(observation: Observation, name: string, ...keys: readonly ObjectKey[]): Observation {
  const slot = slotOf(observation, name);
  if (!slot) return observation;
  const left: { -readonly [K in keyof Slot]: Slot[K] } = { ...slot };
  for (const key of keys) delete left[key];
  if (!left.peer && !left.volume && !left.configMap && !left.statefulSet && !left.pod) {
    return { ...observation, slots: observation.slots.filter((other) => other !== slot) };
  }
  if (left.pod) return replaced(observation, left);
  const endpoint = left.volume ? silenced(slot.endpoint, nothingThere.cause) : nothingThere;
  return replaced(observation, { ...left, endpoint });
}
