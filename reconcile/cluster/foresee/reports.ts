import type { Observation, Slot } from '../know/observation.ts';

/** A reported warning repeats for as long as it lasts; that it passes cannot be foreseen. */
export function withReportsAt(observation: Observation, at: Date): Observation {
  if (!observation.slots.some(({ warnings = [] }) => warnings.length > 0)) return observation;
  return { ...observation, slots: observation.slots.map((slot) => repeated(slot, at)) };
}

function repeated(slot: Slot, at: Date): Slot {
  return slot.warnings ? { ...slot, warnings: slot.warnings.map((warning) => ({ ...warning, at })) } : slot;
}
