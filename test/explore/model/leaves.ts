/**
 * The certificate of a member, or of etcd-ratchet, as far as members look at names: valid, and of one issuer for all.
 * There are these two, so that one is written where another one stands.
 */
export interface Leaf {
  readonly named?: true;
}

export const plainLeaf: Leaf = {};
export const namedLeaf: Leaf = { named: true };

interface Speaks {
  readonly asks?: true;
  readonly shows?: Leaf;
}

interface Holds {
  readonly process?: Speaks;
  readonly leaf?: Leaf;
  readonly nodeDead?: true;
  readonly orphan?: true;
}

/** The one that dials and the one that is dialled ask alike. Without certificates none asks. */
export function letIn(a: Speaks, b: Speaks): boolean {
  return (!a.asks || b.shows?.named === true) && (!b.asks || a.shows?.named === true);
}

/** Kubelet brings it the content of its Secret some time later; etcd reads it at each connection. */
export function isShownLate({ process, leaf, nodeDead, orphan }: Holds): boolean {
  return process !== undefined && leaf !== undefined && process.shows !== leaf && !nodeDead && !orphan;
}
