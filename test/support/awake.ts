/** A clock that stands while this process gets no processor: what it slept through is the machine's, nobody else's. */
export interface Stopwatch extends Disposable {
  /** Milliseconds since it was started. */
  milliseconds(): number;
}

/**
 * Between two looks, in milliseconds. A look that is later than this by as much again was slept through. What is slept
 * in shorter pieces counts as time. (A look each 10 ms took as much time as the writes of a test that measures them.)
 */
const period = 25;

export function startStopwatch(now: () => number = () => performance.now()): Stopwatch {
  const started = now();
  let [lookedAt, slept] = [started, 0];
  const timer = setInterval(look, period);

  function look(): void {
    const at = now();
    const late = at - lookedAt - period;
    if (late > period) slept += late;
    lookedAt = at;
  }

  return {
    milliseconds() {
      look();
      return now() - started - slept;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
