import type { Place, World } from './state.ts';

export interface Fault {
  readonly what: string;
  /** `undefined`: it can't happen to that one. */
  readonly strike: Strike;
}

export type Strike = (world: World, place: Place) => World | undefined;
