import type { Holder } from '../cluster/know/holder.ts';
import type { Kube } from '../interfaces/kube.ts';
import type { NodesObserved } from './observe.ts';

export interface NodeActContext {
  readonly kube: Kube;
  readonly observed: NodesObserved;
  /** Our own, for the Job. */
  readonly image: () => Promise<string>;
  readonly rebootsIn: string;
  /** This invocation. */
  readonly holder: Holder;
  readonly signal: AbortSignal;
  /** No write is sent after it, by `performance.now()`. */
  readonly deadline: number;
}
