import type { ApprovalAsked } from '../../manifests/api/approval.ts';
import { approvals, approverOf } from '../../manifests/render/names.ts';
import type { KubeObject } from '../interfaces/kube.ts';

/** An approval that is there and counts for nothing. */
export interface RefusedApproval {
  readonly annotation: string;
  readonly value: string;
  /** Ends a sentence that names the approval. */
  readonly why: string;
  readonly cure: string;
}

interface GivenApproval {
  readonly annotation: string;
  readonly value: string;
  /** The Kubernetes user that gave it; `undefined`: from before the API server demanded a name. */
  readonly by: string | undefined;
}

/** Every approval that this object bears, for whatever it was given. */
export function approvalsGiven({ metadata: { annotations = {} } }: KubeObject): readonly GivenApproval[] {
  return approvals.flatMap((annotation) => {
    const value = annotations[annotation];
    return value === undefined ? [] : [{ annotation, value, by: annotations[approverOf(annotation)] }];
  });
}

export function isSame(one: Pick<GivenApproval, 'annotation' | 'value'>, other: typeof one): boolean {
  return one.annotation === other.annotation && one.value === other.value;
}

/** The object as if these approvals had not been given. For conclusions only: it is never written. */
export function withoutRefused<T extends KubeObject>(object: T, refused: readonly RefusedApproval[] = []): T {
  if (refused.length === 0) return object;
  const gone = new Set(refused.map(({ annotation }) => annotation));
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([key]) => !gone.has(key));
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
}

/** With texts that a status takes. @param longest in characters */
export function fitted({ approves, loses, refused, ...rest }: ApprovalAsked, longest: number): ApprovalAsked {
  return {
    ...rest,
    approves: approves.slice(0, longest),
    loses: loses.slice(0, longest),
    ...(refused !== undefined && { refused: refused.slice(0, longest) }),
  };
}
