import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Network } from '../gitops/net/agent.ts';
import { type AllowLists, listVariables, readEntries } from '../manifests/egress/allow-lists.ts';
import type { Egress } from '../manifests/egress/egress.ts';
import { lastAnswers } from '../manifests/last-answers.ts';
import { type NameAllowance, readAllowances } from '../manifests/render/certificate-allowance.ts';
import { type HostPattern, readHosts } from '../manifests/render/listed-hosts.ts';

/** The only place that reads the environment, but for the API server's address: what this process is in Kubernetes. */
export interface Identity {
  /** The holder of the leases of this invocation. */
  readonly holder: { readonly pod: string; readonly uid: string };
  /** Whose template follow-up Jobs are made from; absent outside of a CronJob. */
  readonly cronJob?: { readonly namespace: string; readonly name: string };
}

/** A longer one is unreadable, and forges refuse it once something is added to it. */
const longestPageUrl = 150;

/** `RATCHET_PAGE_URL`: where people find the page. A wrong one costs links and nothing else: it is only logged. */
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

/** The proxy for Git and the forges, and for nothing else; and where those who write fleets may have us go. */
export function networkFrom(env: NodeJS.ProcessEnv): Network {
  const { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy } = env;
  return {
    proxy: { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, NO_PROXY, no_proxy },
    egress: egressFrom(env),
  };
}

/** Where the installation lets us go for those who write fleets and backups. */
export function egressFrom(env: NodeJS.ProcessEnv): Egress {
  const { RATCHET_HOSTS: hosts, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  return {
    ...((hosts?.trim() || isStrict(env)) && { hosts: patternsIn(hosts) }),
    lists: listsFrom(env),
    plainHttp: patternsIn(env.RATCHET_PLAIN_HTTP_HOSTS),
    local: patternsIn(env.RATCHET_LOCAL_HOSTS),
    ...(host && { apiServer: { host, port: Number(port ?? 443) } }),
  };
}

/** `RATCHET_STRICT`: a list that is not set allows nothing. */
function isStrict(env: NodeJS.ProcessEnv): boolean {
  return env.RATCHET_STRICT === 'Enabled';
}

function listsFrom(env: NodeJS.ProcessEnv): AllowLists {
  const said = Object.entries(listVariables).filter(([, variable]) => env[variable]?.trim() || isStrict(env));
  return Object.fromEntries(said.map(([list, variable]) => [list, readEntries(env[variable]).entries]));
}

/** Where the Jobs are made that reboot nodes: a namespace, which the component node-reboots sets. */
export function rebootsFrom(env: NodeJS.ProcessEnv): string | undefined {
  return env.RATCHET_NODE_REBOOTS || undefined;
}

/** Whether a tick moves stored objects to the newest version of the API: the component storage-migration says so. */
export function migratesStorage(env: NodeJS.ProcessEnv): boolean {
  return env.RATCHET_STORAGE_MIGRATION === 'Enabled';
}

/** By their text: a process has three of them, and asks for them at every connection. */
const listsRead = lastAnswers<readonly HostPattern[]>(8);

function patternsIn(text = ''): readonly HostPattern[] {
  return listsRead(text, () => readHosts(text).patterns);
}

/** Names that clusters may ask issuers of cert-manager for, besides their own. */
export function nameAllowancesFrom(env: NodeJS.ProcessEnv): readonly NameAllowance[] {
  return readAllowances(env.RATCHET_CERTIFICATE_NAMES).allowances;
}

/** Entries of settings that can't be read. They match nothing, so that an installation allows less than it says. */
export function wrongSettings(env: NodeJS.ProcessEnv): readonly string[] {
  const read = {
    RATCHET_HOSTS: readHosts,
    RATCHET_PLAIN_HTTP_HOSTS: readHosts,
    RATCHET_LOCAL_HOSTS: readHosts,
    RATCHET_CERTIFICATE_NAMES: readAllowances,
    ...Object.fromEntries(Object.values(listVariables).map((variable) => [variable, readEntries])),
  };
  return Object.entries(read).flatMap(([name, wrongIn]) =>
    wrongIn(env[name]).wrong.map((entry) => `${name}: ${entry.slice(0, 100)}`),
  );
}

/** Knative refuses a reference to the field: a pod of it finds its namespace only beside its token. */
export function withPodNamespace(
  env: NodeJS.ProcessEnv,
  file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace',
): NodeJS.ProcessEnv {
  if (env.POD_NAMESPACE || !existsSync(file)) return env;
  return { ...env, POD_NAMESPACE: readFileSync(file, 'utf8').trim() };
}

export function identityFrom(env: NodeJS.ProcessEnv): Identity {
  const { POD_NAME: pod, POD_UID: uid, POD_NAMESPACE: namespace, CRONJOB_NAME: cronJob } = env;
  return {
    // Outside of a cluster every process is a holder of its own, even on one machine.
    holder: namespace && pod && uid ? { pod: `${namespace}/${pod}`, uid } : { pod: hostname(), uid: randomUUID() },
    ...(namespace && cronJob && { cronJob: { namespace, name: cronJob } }),
  };
}
