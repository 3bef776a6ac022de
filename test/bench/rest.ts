import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** Of all processors together. */
const atRest = 0.2;
const patience = 120_000;

/**
 * Waits until the machine has had little to do for two seconds, and says what it came to: figures of moments mean
 * something only there. Not the load average, which remembers a minute for minutes.
 */
export async function rest(): Promise<string> {
  const started = performance.now();
  for (;;) {
    const busy = await busyFor(2_000);
    const waited = (performance.now() - started).toFixed(0);
    if (busy <= atRest) return `at rest after ${waited} ms: ${percent(busy)} of the processors' time in use.`;
    if (performance.now() - started > patience) {
      return `NOT at rest, also after ${waited} ms: ${percent(busy)} of the processors' time in use.`;
    }
  }
}

/** The share of their time in which the processors were busy, over so many milliseconds. */
async function busyFor(ms: number): Promise<number> {
  const before = times();
  await pause(ms);
  const after = times();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function times(): { readonly idle: number; readonly all: number } {
  const each = cpus().map((processor) => processor.times);
  const idle = each.reduce((sum, time) => sum + time.idle, 0);
  return { idle, all: each.reduce((sum, time) => sum + Object.values(time).reduce((a, b) => a + b, 0), 0) };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
