import { Hono } from 'hono';
import { aborted } from '../../manifests/abort-after.ts';
import { version } from '../../manifests/release.ts';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { openGroup } from './groups.ts';
import { listen } from './listen.ts';
import type { ServeOptions } from './options.ts';
import type { RouteGroup, ServeContext } from './route-group.ts';

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly stop: AbortSignal;
}

/** Listens until it is asked to leave, and finishes what it has begun. Resolves with the exit code. */
export async function serve(options: ServeOptions, { env, log, stop }: Surroundings): Promise<number> {
  try {
    const kube = await connectKube({ userAgent: `etcd-ratchet/${version}` });
    const context: ServeContext = { kube, log, env, version, namespace: options.namespace, stop };
    const groups = await Promise.all(options.groups.map((name) => openGroup(name, context)));
    const server = await listen(composed(groups, stop), options);
    log({ port: server.port, groups: options.groups.join(', ') }, 'listening');
    await aborted(stop);
    log({}, 'leaving: what is under way is finished first');
    await server.close();
    kube.close();
    return 0;
  } catch (error) {
    if (!(error instanceof KubeError) && (error as NodeJS.ErrnoException).syscall !== 'listen') throw error;
    log({ problem: (error as Error).message }, 'can not serve');
    return 1;
  }
}

/** One application of all groups. An unknown path gets an empty 404, and a defect of ours an empty 500. */
export function composed(groups: readonly RouteGroup[], stop: AbortSignal): Hono {
  const app = new Hono();
  app.route('/', health(groups, stop));
  for (const { app: group } of groups) app.route('/', group);
  app.notFound((context) => context.body(null, 404));
  app.onError((error, context) => {
    // To stderr and not into the answer: it may quote what was sent.
    process.stderr.write(`etcd-ratchet: ${error.stack ?? error.message}\n`);
    return context.body(null, 500);
  });
  return app;
}

/** For kubelet and Knative: `/healthz` while the process answers at all, `/readyz` while it may be sent work. */
function health(groups: readonly RouteGroup[], stop: AbortSignal): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => context.text('ok'));
  app.get('/readyz', async (context) => {
    if (stop.aborted) return context.text('leaving', 503);
    for (const { ready } of groups) {
      const lack = await ready?.();
      if (lack !== undefined) return context.text(lack, 503);
    }
    return context.text('ok');
  });
  return app;
}
