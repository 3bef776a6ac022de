import { ProvisionError } from './binaries/error.ts';
import type { ProvideOptions } from './binaries/provide.ts';
import { currentSandbox } from './sandbox.ts';

/**
 * Files that are provided before the sandbox, where there is a network, and handed into it and into test processes by a
 * variable of the environment.
 */
export interface Handed<T> {
  /**
   * Finds it, or downloads or builds what is missing. The first time may take minutes; later, milliseconds.
   *
   * @throws {ProvisionError} naming the binary and what to do, when no source has it; or what may be asked for instead.
   */
  provide(options?: ProvideOptions): Promise<T>;
  /** With which a child process finds the same without looking. */
  environment(found: T): Readonly<Record<string, string>>;
}

/** Why there is none: a stand-in serves. */
export interface Missing {
  readonly missing: string;
}

/** @param find is given a signal that a Ctrl-C aborts, too: a compiler must not outlive it */
export function handed<T>(variable: string, find: (options: ProvideOptions) => Promise<T>): Handed<T> {
  return {
    async provide(options = {}) {
      const given = process.env[variable];
      if (given !== undefined) return JSON.parse(given) as T;
      const interrupted = new AbortController();
      const stop = () => interrupted.abort();
      for (const name of signals) process.on(name, stop);
      const signal = options.signal ? AbortSignal.any([options.signal, interrupted.signal]) : interrupted.signal;
      try {
        return await find({ ...options, signal });
      } finally {
        for (const name of signals) process.off(name, stop);
      }
    },
    environment: (found) => ({ [variable]: JSON.stringify(found) }),
  };
}

/** While a compiler may run, they stop it, and then us with an error. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The same, of what a test has a stand-in for: why there is none is as good an answer. */
export function handedOrMissing<T>(
  variable: string,
  find: (options: ProvideOptions) => Promise<T>,
): Handed<T | Missing> {
  return handed<T | Missing>(variable, async (options) => {
    // In there nothing can be built, and a stand-in would serve wherever somebody forgot to hand the real one in.
    if (currentSandbox()) throw new Error(`what fills ${variable} is to be provided before the sandbox`);
    try {
      return await find(options);
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof ProvisionError)) throw error;
      return { missing: inOneLine(error.message) };
    }
  });
}

/** What was tried, and the compiler's last line. */
function inOneLine(message: string): string {
  const [what = '', ...said] = message.split('\n').filter((line) => line !== '');
  return [what, said.at(-2) ?? ''].join(' ').trim();
}
