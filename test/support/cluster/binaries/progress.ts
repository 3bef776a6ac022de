/** Where progress goes: stderr, or a list in a test. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  /** Something that is over already. */
  note(line: string): void;
  /** Something that takes time, shown while `work` runs. `left`: in seconds, of all that is to be done. */
  during<T>(what: string, left: (() => number | undefined) | undefined, work: () => Promise<T>): Promise<T>;
}

/**
 * A live line on a terminal; elsewhere a line at the start, at the end, and every 30 s, so that a CI log shows life.
 */
export function showProgress(output: ProgressOutput): Progress {
  const eraseLine = '\r\x1b[2K';
  const note = (line: string) => {
    output.write(`${output.isTTY ? eraseLine : ''}${line}\n`);
  };
  return {
    note,
    async during(what, left, work) {
      const started = performance.now();
      const elapsed = () => clock((performance.now() - started) / 1000);
      const promised = () => {
        const seconds = left?.();
        return seconds === undefined ? '' : `, about ${clock(seconds)} left in all`;
      };
      const tick = () => {
        const line = `${what} … ${elapsed()}${promised()}`;
        if (output.isTTY) output.write(`${eraseLine}${line}`);
        else note(line);
      };
      tick();
      const timer = setInterval(tick, output.isTTY ? 200 : 30_000);
      try {
        const result = await work();
        note(`${what}: done in ${elapsed()}`);
        return result;
      } catch (error) {
        note(`${what}: failed after ${elapsed()}`);
        throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** `0:07`, `3:20` */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
