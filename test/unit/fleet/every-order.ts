/** Waits until it is this one's turn: called before each request. */
export type Turn = () => Promise<void>;

type Together = (works: readonly ((turn: Turn) => Promise<void>)[]) => Promise<void>;

/**
 * Runs a story again and again, until its works have taken their turns in every order there is.
 * @returns how many orders there were
 */
export async function everyOrder(story: (together: Together) => Promise<void>): Promise<number> {
  let orders = 0;
  let script: number[] | undefined = [];
  while (script) {
    const taken: { readonly choice: number; readonly of: number }[] = [];
    const planned: readonly number[] = script;
    await story((works) =>
      inTurns(works, (of) => {
        const choice = planned[taken.length] ?? 0;
        taken.push({ choice, of });
        return choice;
      }),
    );
    orders++;
    const last = taken.findLastIndex(({ choice, of }) => choice + 1 < of);
    script =
      last < 0
        ? undefined
        : [...taken.slice(0, last), { choice: (taken[last]?.choice ?? 0) + 1 }].map(({ choice }) => choice);
  }
  return orders;
}

/** @param choose of so many that wait, which one goes on */
async function inTurns(works: Parameters<Together>[0], choose: (of: number) => number): Promise<void> {
  const waiting = new Map<number, () => void>();
  let [running, allWait] = [works.length, Promise.withResolvers<void>()];
  const rests = () => {
    running--;
    if (running === 0) allWait.resolve();
  };
  const ended = works.map(async (work, number) => {
    try {
      await work(() => {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.set(number, resolve);
        rests();
        return promise;
      });
    } finally {
      rests();
    }
  });
  for (;;) {
    await allWait.promise;
    const numbers = [...waiting.keys()].toSorted((a, b) => a - b);
    const next = numbers.length > 0 ? numbers[choose(numbers.length)] : undefined;
    if (next === undefined) break;
    [running, allWait] = [1, Promise.withResolvers<void>()];
    const goOn = waiting.get(next);
    waiting.delete(next);
    goOn?.();
  }
  await Promise.all(ended);
}
