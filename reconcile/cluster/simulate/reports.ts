import type { Observation, Slot } from '../observation.ts';

/** What is reported is reported again for as long as it lasts, and nobody can promise that it passes. */
export function withReportsAt(observation: Observation, at: Date): Observation {
  if (!observation.slots.some(({ warnings = [] }) => warnings.length > 0)) return observation;
  return { ...observation, slots: observation.slots.map((slot) => repeated(slot, at)) };
}

function repeated(slot: Slot, at: Date): Slot {
  return slot.warnings ? { ...slot, warnings: slot.warnings.map((warning) => ({ ...warning, at })) } : slot;
}
