import { version } from '../manifests/release.ts';
import { createLog } from './log.ts';
import { parseOptions } from './tick/options.ts';

/** How long after its deadline a process may still be there, in milliseconds, whatever hangs. */
const hardLimitMs = 10_000;

/** The tick, its follow-ups, and a person's command line: one pass, and leave. Resolves with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // The reader of the results may close the pipe early (`… | head`): what is left to do is done, and the code stays.
  process.stdout.on('error', () => undefined);
  const parsed = parseOptions(args, {
    version,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  if (parsed.kind === 'exit') return parsed.code;
  const { options } = parsed;
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.once(name, () => stopping.abort(new Error(`stopped by ${name}`)));
  const hard = setTimeout(
    () => {
      process.stderr.write('etcd-ratchet: still not done long after its deadline; leaving as it is\n');
      process.exit(1);
    },
    (options.timeout + (options.delay ?? 0)) * 1000 + hardLimitMs,
  );
  hard.unref();

  const log = await createLog(process.stderr);
  const { runTick } = await import('./tick/run-tick.ts');
  return runTick(options, {
    version,
    log,
    stop: stopping.signal,
    env: process.env,
    out: (text) => process.stdout.write(text),
  });
}
