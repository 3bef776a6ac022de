import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ProxyEnvironment } from '../gitops/net/proxy.ts';

/**
 * What this process is in Kubernetes: the only place that reads the environment, apart from where the API server is.
 */
export interface Identity {
  /** For claims: who acts. */
  readonly holder: { readonly pod: string; readonly uid: string };
  /** Whose template follow-up Jobs are made from; absent outside of a CronJob. */
  readonly cronJob?: { readonly namespace: string; readonly name: string };
}

/** A longer one is unreadable, and forges refuse it once something is added to it. */
const longestPageUrl = 150;

/**
 * `RATCHET_PAGE_URL`: where the page is for people. What is wrong with it costs links and nothing else, so it is told,
 * not thrown.
 */
export function pageUrlFrom(env: NodeJS.ProcessEnv): { readonly url?: string; readonly problem?: string } {
  const { RATCHET_PAGE_URL: given } = env;
  if (!given) return {};
  const url = URL.parse(given);
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: 'RATCHET_PAGE_URL must be an http(s) address without credentials, query or fragment' };
  }
  if (url.href.length > longestPageUrl)
    return { problem: `RATCHET_PAGE_URL is longer than ${longestPageUrl} characters` };
  return { url: url.href.replace(/\/+$/, '') };
}

/** The proxy for Git and the forges, and for nothing else. */
export function proxyFrom(env: NodeJS.ProcessEnv): ProxyEnvironment {
  const { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy } = env;
  return { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy };
}

export function identityFrom(env: NodeJS.ProcessEnv): Identity {
  const { POD_NAME: pod, POD_UID: uid, POD_NAMESPACE: namespace, CRONJOB_NAME: cronJob } = env;
  return {
    // Outside of a cluster every process is a holder of its own, even on one machine.
    holder: namespace && pod && uid ? { pod: `${namespace}/${pod}`, uid } : { pod: hostname(), uid: randomUUID() },
    ...(namespace && cronJob && { cronJob: { namespace, name: cronJob } }),
  };
}
