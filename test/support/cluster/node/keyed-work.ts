import type { Log } from './options.ts';

export type KeyedWork = (key: string) => void;

/**
 * Does `work` for a key, one at a time per key: asked again meanwhile, it is done once more afterwards, so that no
 * change is missed; what fails is tried again with a growing pause until it succeeds or the signal aborts.
 */
export function createKeyedWork(
  { log, signal }: { log: Log; signal: AbortSignal },
  work: (key: string) => Promise<void>,
): KeyedWork {
  const state = new Map<string, 'busy' | 'busy, and once more'>();

  async function attempt(key: string): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      state.set(key, 'busy');
      try {
        await work(key);
        failures = 0;
        if (state.get(key) === 'busy') break;
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ object: key, error: String(error) }, 'not done, trying again');
        await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 100 * 2 ** failures++)).unref());
      }
    }
    state.delete(key);
  }

  return (key) => {
    if (state.has(key)) state.set(key, 'busy, and once more');
    else void attempt(key);
  };
}
