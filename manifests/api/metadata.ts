import Type, { type Static } from 'typebox';
import { int64, mapList, text, time } from './schema.ts';

export type { ObjectMeta } from '../kube-types.ts';

/** metav1.Condition, with the bounds that Kubernetes itself sets. */
const conditionSchema = Type.Object({
  type: text(316),
  status: Type.Enum(['True', 'False', 'Unknown']),
  observedGeneration: Type.Optional(int64({ minimum: -1 })),
  lastTransitionTime: time(),
  reason: text(1024, { minLength: 1 }),
  message: text(32768),
});
export type Condition = Readonly<Static<typeof conditionSchema>>;

export const conditionsSchema = mapList(conditionSchema, 16, ['type'], {
  description: 'Ready always; Reconciling and Stalled only while true (kstatus).',
});
