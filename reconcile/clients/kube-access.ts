/**
 * Where the API server is, and our identity there. In a pod that is two files and two variables, read by hand:
 * importing @kubernetes/client-node takes longer than the whole rest of an idle tick. Kubeconfigs (contexts, client
 * certificates, exec plugins, proxies) are client-node's, imported only then.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import path from 'node:path';
import { urlOf } from '../../manifests/render/hosts.ts';
import { KubeError } from '../interfaces/kube.ts';

type TlsOptions = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
  /** Set when the way leads through a proxy. */
  readonly proxy?: Agent;
}

export interface Access {
  /** With the path prefix, if there is one. */
  readonly server: URL;
  /** Of the kubeconfig's context, where it names one. */
  readonly namespace?: string;
  /** Asked before every request, so that a rotated token or certificate is used at once. @throws {KubeError} */
  credentials(): Promise<Credentials>;
}

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The first of: the kubeconfig given, `KUBECONFIG`, the pod's service account, `~/.kube/config`.
 * @param context of the kubeconfig, instead of its current one
 * @throws {KubeError} `NoCredentials` when there is none, or it cannot be read
 */
export async function findAccess(
  kubeconfig: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
  context?: string,
): Promise<Access> {
  if (kubeconfig !== undefined) return kubeconfigAccess(kubeconfig, context);
  if (env.KUBECONFIG) return kubeconfigAccess(undefined, context);
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host && existsSync(`${serviceAccountDirectory}/token`)) return podAccess({ host, port });
  const home = path.join(homedir(), '.kube', 'config');
  if (existsSync(home)) return kubeconfigAccess(home, context);
  throw noCredentials(
    'no Kubernetes cluster is configured: set KUBECONFIG, or have a ~/.kube/config, or run in a pod with a service account',
  );
}

export function podAccess({
  host,
  port,
  directory = serviceAccountDirectory,
}: {
  readonly host: string;
  readonly port: string;
  readonly directory?: string;
}): Access {
  return {
    server: new URL(urlOf('https', host, port)),
    credentials: async () => {
      const [ca, token] = [read('ca.crt'), read('token')];
      return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
    },
  };

  /** Synchronously: the kubelet keeps both in memory, where a pool of threads would take ten times as long. */
  function read(name: string): string {
    const file = path.join(directory, name);
    const content = readNow(file);
    if (content.trim() === '') throw noCredentials(`the service account's ${file} is empty`);
    return content;
  }
}

function readNow(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw noCredentials(`the service account's ${file} cannot be read (${codeOf(cause)})`, cause);
  }
}

async function kubeconfigAccess(file: string | undefined, context: string | undefined): Promise<Access> {
  const name = file ?? `${process.env.KUBECONFIG} (from KUBECONFIG)`;
  // Not the package's index: that loads every API class, which takes another 0.3 s.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    // Without the cause: a YAML error quotes the lines around it, and those may hold a token.
    throw noCredentials(`the kubeconfig ${name} cannot be read (${codeOf(error)})`);
  }
  if (context !== undefined && config.getContextObject(context) === null) {
    const names = config.getContexts().map((one) => one.name);
    throw noCredentials(`the kubeconfig ${name} has no context ${context}; there are: ${names.join(', ') || 'none'}`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (!cluster?.server || !URL.canParse(cluster.server)) {
    const context = config.getCurrentContext() || '(none)';
    throw noCredentials(`the kubeconfig ${name} has no cluster with a server URL for its current context ${context}`);
  }
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace;
  return {
    server: new URL(cluster.server),
    ...(namespace && { namespace }),
    credentials: async () => {
      const options: Parameters<typeof config.applyToHTTPSOptions>[0] = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        throw noCredentials(`the credentials of the kubeconfig ${name} cannot be used: ${wordsOf(cause)}`, cause);
      }
      const { ca, cert, key, servername, rejectUnauthorized, auth, headers, agent } = options;
      const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
      return {
        headers: { ...basic, ...lowerCase(headers ?? {}) },
        tls: defined({ ca, cert, key, servername, rejectUnauthorized }),
        ...(cluster.proxyUrl && typeof agent === 'object' ? { proxy: agent } : {}),
      };
    },
  };
}

function noCredentials(message: string, cause?: unknown): KubeError {
  return new KubeError(message, { class: 'terminal', reason: 'NoCredentials', cause });
}

function codeOf(error: unknown): string {
  const { code, name, mark } = error as { code?: unknown; name?: unknown; mark?: { line?: number } };
  const place = mark?.line === undefined ? '' : ` in line ${mark.line + 1}`;
  return `${String(code ?? name ?? 'error')}${place}`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lowerCase(headers: object): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), String(value)]));
}

function defined(options: Partial<Record<keyof TlsOptions, unknown>>): TlsOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
