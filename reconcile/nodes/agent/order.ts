import type { MarkChange } from '../marks.ts';
import type { NodeSeen } from '../observation.ts';

/** `taken`: it may reboot the node, once it has written {@link takenOrder}. */
export type Taken = { readonly kind: 'taken' | 'not-yet' } | { readonly kind: 'none'; readonly why: string };

/** Which Job asks, and for which grant it was made. */
export interface Asking {
  /** Its UID. */
  readonly job: string;
  readonly grant: { readonly id: string; readonly bootID: string };
}

/** Whether a Node says that this very Job may reboot it now. Pure. */
export function orderIn(node: Pick<NodeSeen, 'name' | 'marks' | 'bootId' | 'unschedulable'>, asking: Asking): Taken {
  const { name, bootId, unschedulable } = node;
  const { granted, now, inProgress } = node.marks;
  const { grant, job } = asking;
  if (job === '' || granted?.word !== grant.id) return { kind: 'none', why: `node ${name} has no grant for this Job` };
  // A crash since the grant was its reboot, and so was one that this Job has asked for.
  if (bootId === '' || bootId !== grant.bootID)
    return { kind: 'none', why: `node ${name} does not run the boot that is to end` };
  if (inProgress?.word === bootId) return { kind: 'none', why: `node ${name} was told to reboot already` };
  if (now?.word !== job) return { kind: 'not-yet' };
  // A node that takes pods again may have a member again: its drain is to be begun anew.
  if (!unschedulable) return { kind: 'none', why: `node ${name} is not cordoned` };
  return { kind: 'taken' };
}

/** Taken away before the host is told: an order is carried out once at most. */
export function takenOrder(bootId: string): MarkChange {
  return { now: undefined, inProgress: bootId };
}
