import Type, { type Static } from 'typebox';
import type { ObjectMeta } from '../kube-types.ts';
import type { Kind } from './group.ts';
import { int64, mapList, text, time } from './schema.ts';

export type { ObjectMeta } from '../kube-types.ts';

/** A resource of one of our kinds. */
export interface CustomResource<K extends Kind, Spec, Status> {
  readonly apiVersion: 'etcd.ratchet.dev/v1alpha1';
  readonly kind: K;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

/** metav1.Condition, with the bounds that Kubernetes itself sets. */
const conditionSchema = Type.Object({
  type: text(316, { description: 'What it is about: one of each type.' }),
  status: Type.Enum(['True', 'False', 'Unknown'], { description: 'Whether it is so.' }),
  observedGeneration: Type.Optional(
    int64({ minimum: -1, description: 'The generation of the spec that this is about.' }),
  ),
  lastTransitionTime: time({ description: 'When the status was another one last.' }),
  reason: text(1024, { minLength: 1, description: 'Why, in one word of docs/reference/reasons.md.' }),
  message: text(32768, { description: 'Why, in words: what is, what it means and what to do.' }),
});
export type Condition = Readonly<Static<typeof conditionSchema>>;

export const conditionsSchema = mapList(conditionSchema, 16, ['type'], {
  description: 'Ready always; Reconciling and Stalled only while true (kstatus).',
});
