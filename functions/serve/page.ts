import { identityFrom } from '../environment.ts';
import { loopbackAccess, reviewedAccess } from '../page/access.ts';
import { createReader } from '../page/read.ts';
import { pageRoutes } from '../page/routes.ts';
import { reachOf } from '../pass/follow-up/reach.ts';
import type { RouteGroup, ServeContext } from './route-group.ts';

/**
 * The page. Its address decides who may look. On loopback: everyone that `kubectl port-forward` lets through.
 * Elsewhere: users with a bearer token that the API server knows, and only what they may see with kubectl.
 */
export async function page({ kube, log, env, namespace, stop }: ServeContext): Promise<RouteGroup> {
  const { holder } = identityFrom(env);
  // A plan has a time of its own.
  const reach = reachOf({ kube, log, holder, signal: stop, deadline: Number.POSITIVE_INFINITY });
  const reader = createReader({ ...reach, namespace });
  const { RATCHET_PAGE_AUDIENCE: audience } = env;
  const access = listensOnLoopback(env) ? loopbackAccess : reviewedAccess(kube, audience ? { audience } : {});
  return { app: pageRoutes({ reader, access, log }) };
}

/** Behind Knative everything comes from the proxy beside it, so there is no loopback there. */
export function listensOnLoopback({ RATCHET_HOST: host, K_SERVICE: knative }: NodeJS.ProcessEnv): boolean {
  if (!host || knative !== undefined) return false;
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
