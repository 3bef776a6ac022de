import type { LabelledRef } from '../../actions.ts';
import type { Slot } from '../../observation.ts';
import { type EffectsOf, oneByOne, onSlot } from '../effect.ts';

export const restoreLabels: EffectsOf<'restore-labels'> = ({ objects }) =>
  oneByOne(...objects.map((object) => onSlot(object.name, (slot) => labelled(slot, object))));

function labelled(slot: Slot, { of, uid }: LabelledRef): Slot {
  const key = of === 'volume' && !slot.volume ? 'late' : of;
  const view = slot[key];
  if (view?.uid !== uid || view.leaving) return slot;
  const { unlabelled: _, ...rest } = view;
  return { ...slot, [key]: rest };
}
