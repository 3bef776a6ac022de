import type { Action, ActionKind } from '../actions.ts';
import type { Observation } from '../observation.ts';
import type { Effect, EffectsOf, Waves } from './effect.ts';
import { applyShared, setFinalizer } from './effects/objects.ts';
import { followVolumes, prepareMembers, replaceUnboundVolume, startMembers } from './effects/preparing.ts';
import { sealMembers } from './effects/sealing.ts';
import { noteVersions } from './effects/versions.ts';

const effects = {
  'apply-shared': applyShared,
  'follow-volumes': followVolumes,
  'note-versions': noteVersions,
  'prepare-members': prepareMembers,
  'replace-unbound-volume': replaceUnboundVolume,
  'seal-members': sealMembers,
  'set-finalizer': setFinalizer,
  'start-members': startMembers,
} satisfies { readonly [K in ActionKind]?: EffectsOf<K> };

/** One for each write, in the order in which they are sent; those that are sent side by side stand in the order of the action. */
export function effectsOf(action: Action, observation: Observation): readonly Effect[] {
  return wavesOf(action, observation).flat();
}

/** As {@link effectsOf}, telling apart what is sent side by side, and may arrive in any order. */
export function wavesOf(action: Action, observation: Observation): Waves {
  const table: { readonly [K in ActionKind]?: EffectsOf<K> } = effects;
  const writes = table[action.kind] as EffectsOf<Action['kind']> | undefined;
  if (!writes) throw new Error(`${action.kind} can not be simulated`);
  return writes(action as never, observation);
}
