import { Hono } from 'hono';
import type { RouteGroup } from './route-group.ts';

/** For kubelet and Knative: `/healthz` while the process answers at all, `/readyz` while it may be sent work. */
export function health(groups: readonly RouteGroup[], stop: AbortSignal): Hono {
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
