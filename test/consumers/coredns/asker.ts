import { setTimeout as pause } from 'node:timers/promises';

/** Asks for a name again and again. Times are in milliseconds. */
export interface Asker extends AsyncDisposable {
  /** From now on answers and gaps are counted anew. */
  begin(): void;
  now(): Asked;
  /** Answers that say something else than what is written, or that there is no such name, from the beginning on. */
  readonly wrong: readonly string[];
}

export interface Asked {
  readonly answers: number;
  /** Between two right answers. */
  readonly longestGap: number;
  /** The last one. */
  readonly problem: string;
}

/** The answer of a server that has no data for a name, or no such name. */
const denials: readonly string[] = ['ENOTFOUND', 'ENODATA'];

/** @param address asks once; @param right the only right answer */
export function startAsker(address: () => Promise<string>, right: string): Asker {
  const stopped = new AbortController();
  const wrong: string[] = [];
  let [answers, longestGap, problem, last] = [0, 0, 'no error', performance.now()];
  const ended = (async () => {
    while (!stopped.signal.aborted) {
      await pause(20);
      try {
        note(await address());
      } catch (error) {
        const { code = '', message } = error as NodeJS.ErrnoException;
        if (denials.includes(code)) wrong.push(code);
        problem = message;
      }
    }
  })();
  return {
    wrong,
    begin() {
      [answers, longestGap, problem] = [0, 0, 'no error'];
    },
    now: () => ({ answers, longestGap: Math.max(longestGap, Math.round(performance.now() - last)), problem }),
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await ended;
    },
  };

  function note(answer: string): void {
    if (answer !== right) {
      wrong.push(answer);
      return;
    }
    const now = performance.now();
    longestGap = Math.max(longestGap, Math.round(now - last));
    [answers, last] = [answers + 1, now];
  }
}
