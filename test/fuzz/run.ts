import fc from 'fast-check';
import type { Target } from './target.ts';

/** What one input may cost: processor time in milliseconds, and bytes of memory. */
const limits = { cpuMs: 1_000, bytes: 512 * 1024 * 1024 };

export interface Finding {
  readonly target: string;
  /** With the smallest input that was found, and how to see it again. */
  readonly report: string;
}

/** Tries so many inputs. @returns what was found, if anything */
export async function fuzz<Input>(
  { name, inputs, variants = () => [], try: attempt }: Target<Input>,
  {
    seed,
    runs,
    cpuMs: longest = limits.cpuMs,
    onTried = () => undefined,
  }: { readonly seed: number; readonly runs: number; readonly cpuMs?: number; readonly onTried?: () => void },
): Promise<Finding | undefined> {
  const property = fc.asyncProperty(inputs, async (input) => {
    const before = { cpu: process.cpuUsage(), memory: used() };
    await attempt(input);
    for (const variant of variants(input)) {
      await attempt(variant);
      onTried();
    }
    onTried();
    const { user, system } = process.cpuUsage(before.cpu);
    const cpuMs = (user + system) / 1000;
    if (cpuMs > longest) throw new Error(`it took ${cpuMs.toFixed(0)} ms of processor time`);
    const grown = used() - before.memory;
    if (grown > limits.bytes) throw new Error(`it took ${(grown / 2 ** 20).toFixed(0)} MiB`);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: runs,
    endOnFailure: false,
    interruptAfterTimeLimit: 60_000,
  });
  if (!details.failed) return undefined;
  const { errorInstance: error } = details;
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { target: name, report: `${await fc.asyncDefaultReportMessage(details)}\n${why}` };
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
