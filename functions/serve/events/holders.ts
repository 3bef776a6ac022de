import { randomBytes } from 'node:crypto';
import type { Holder } from '../../../reconcile/cluster/know/holder.ts';

/** The requests of one process, as holders of leases. */
export interface Holders {
  /** A request as a holder: it sees the leases of those under way as held, and all others of this process as over. */
  enter(): Holder & Disposable;
}

/** @param process what holds: a pod, or outside of a cluster something that tells this process from every other. */
export function createHolders(process: Holder): Holders {
  const prefix = `${process.uid}/`;
  const underWay = new Set<string>();
  const knowsOver = (uid: string) => uid.startsWith(prefix) && !underWay.has(uid);
  return {
    enter() {
      const uid = `${prefix}${randomBytes(10).toString('hex')}`;
      underWay.add(uid);
      return { pod: process.pod, uid, knowsOver, [Symbol.dispose]: () => void underWay.delete(uid) };
    },
  };
}
