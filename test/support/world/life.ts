import { type Counts, type Crash, crashesIn, killer, none, tickUntilKilled } from './crash.ts';
import { type Frozen, tickUntilFrozen } from './freeze.ts';
import type { World } from './world.ts';

/**
 * One life, told once. It keeps a fork of its world before each invocation, so that a story which leaves it at any
 * write begins with the invocation that makes this write, and not with a life of its own.
 */
export interface Life {
  /** Of all its invocations. */
  readonly writes: number;
  /** Every place where an invocation of it can die. */
  readonly places: readonly Crash[];
  /** A fork in which an invocation has died at that write; `struck` is `false`, at the end, where none makes it. */
  killedAt(crash: Crash): Promise<{ readonly world: World; readonly struck: boolean }>;
  /** A fork in which an invocation stands still at that write; `frozen` is absent, at the end, where none makes it. */
  frozenAt(place: Crash): Promise<{ readonly world: World; readonly frozen: Frozen | undefined }>;
}

export interface Telling {
  /** Controllers take one small step between two ticks, instead of all they can. */
  readonly slow?: boolean;
  /** Is told of a world before it goes on, e.g. to read the time from it. */
  readonly enter?: (world: World) => void;
}

/** A world as it was before an invocation, and how many writes had been begun and answered by then. */
interface Chapter {
  readonly world: World;
  readonly made: Counts;
}

const longest = 60;

/** Lives on in that world until there is nothing left to do, or for 60 invocations. */
export async function lifeOf(world: World, { slow = false, enter = () => undefined }: Telling = {}): Promise<Life> {
  const chapters: Chapter[] = [];
  const between = (its: World) => (slow ? its.round() : its.settle());
  let made = none;
  enter(world);
  while (chapters.length < longest) {
    chapters.push({ world: world.fork(), made });
    const counted = killer(undefined, made);
    between(world);
    const result = await world.tick(counted);
    made = { before: counted.writes(), after: counted.answers() };
    if (!result || (result.decision.reason === 'Converged' && result.outcome === 'none')) break;
    world.advance(2);
  }
  const ended = made;

  /** As it was before the invocation that makes the write. */
  function forkBefore({ when, write }: Crash): Chapter | undefined {
    const chapter = write < ended[when] ? chapters.findLast((each) => each.made[when] <= write) : undefined;
    if (!chapter) return undefined;
    const fork = chapter.world.fork();
    enter(fork);
    return { world: fork, made: chapter.made };
  }

  function forkOfEnd(): World {
    const fork = world.fork();
    enter(fork);
    return fork;
  }

  return {
    writes: ended.before,
    places: crashesIn(ended.before),
    async killedAt(crash) {
      const fork = forkBefore(crash);
      if (!fork) return { world: forkOfEnd(), struck: false };
      return { world: fork.world, struck: await tickUntilKilled(fork.world, crash, slow, fork.made) };
    },
    async frozenAt(place) {
      const fork = forkBefore(place);
      if (!fork) return { world: forkOfEnd(), frozen: undefined };
      const step = () => between(fork.world);
      return { world: fork.world, frozen: await tickUntilFrozen(fork.world, place, step, fork.made) };
    },
  };
}
