import type { FaultKind } from './model/fault-kind.ts';
import type { Turn } from './model/git.ts';
import type { World } from './model/state.ts';

/** One cluster, what is done to it, and what may go wrong meanwhile: searched by itself, as far as it goes. */
export interface Scenario {
  readonly name: string;
  readonly world: () => World;
  /** In this order, each at any time, or never. */
  readonly changes: readonly Turn[];
  /** How often each kind of fault may strike. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** How many of them together. */
  readonly atMost: number;
}

export function one(
  name: string,
  world: World | (() => World),
  changes: readonly Turn[],
  faults: Scenario['faults'],
  atMost: number,
): Scenario {
  return { name, world: typeof world === 'function' ? world : () => world, changes, faults, atMost };
}
