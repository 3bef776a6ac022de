import type { Condition } from '../../manifests/api/metadata.ts';
import { timestamp } from '../time/timestamp.ts';

/** What a resource of ours, or of Kubernetes, says of itself. */
interface Conditioned<C extends { readonly type: string; readonly status: string }> {
  readonly conditions?: readonly C[];
}

export function conditionOf<C extends { readonly type: string; readonly status: string }>(
  status: Conditioned<C> | undefined,
  type: string,
): C | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isTrue<C extends { readonly type: string; readonly status: string }>(
  status: Conditioned<C> | undefined,
  type: string,
): boolean {
  return conditionOf(status, type)?.status === 'True';
}

/** A condition's content; the time of its last change is derived from the condition before. */
export type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** Keeps `lastTransitionTime` of every condition whose status stays, as the API conventions ask. */
export function conditionsFrom(
  statements: readonly Said[],
  previous: readonly Condition[] | undefined,
  { generation, at }: { readonly generation: number; readonly at: Date },
): readonly Condition[] {
  return statements.map(({ type, status, reason, message }) => {
    const before = previous?.find((condition) => condition.type === type);
    return {
      type,
      status,
      reason,
      message: message.slice(0, 2200),
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(at),
    };
  });
}
