import { createInterface } from 'node:readline/promises';
import { runPlugin } from './plugin/run.ts';

/** `kubectl ratchet`: what a person asks of an installation, with that person's rights. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // The reader of the results may close the pipe early (`… | head`): what is left to say is not, and the code stays.
  let isClosed = false;
  process.stdout.on('error', () => {
    isClosed = true;
  });
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => stopping.abort(new Error(`stopped by ${name}`)));
  return await runPlugin(args, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask: (question) => answerTo(question, stopping.signal) }),
    ...(process.stdout.isTTY && { clear: () => process.stdout.write('\u001b[2J\u001b[H') }),
    isClosed: () => isClosed,
    colours: process.stdout.isTTY === true && process.stdout.hasColors(),
    now: () => new Date(),
    stop: stopping.signal,
  });
}

/** The typed answer; '' where the input ends, or a signal came. */
async function answerTo(question: string, signal: AbortSignal): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
    return await Promise.race([asking.question(question, { signal }).catch(() => ''), ended]);
  } finally {
    asking.close();
  }
}
