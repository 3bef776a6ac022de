import { withPodNamespace } from './environment.ts';
import { createLog } from './log.ts';
import { serveOptions } from './serve/options.ts';

/** All listeners (webhooks, CloudEvents, the page), each enabled by its variable. Resolves with the exit code. */
export async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const options = serveOptions(env);
  if (options.kind === 'wrong') {
    process.stderr.write(`etcd-ratchet: ${options.problem}\n`);
    return 2;
  }
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.once(name, () => stopping.abort(new Error(`stopped by ${name}`)));

  const log = await createLog(process.stderr);
  const { serve } = await import('./serve/serve.ts');
  return serve(options, { env: withPodNamespace(env), log, stop: stopping.signal });
}
