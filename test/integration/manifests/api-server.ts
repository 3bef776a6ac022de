import { mkdir } from 'node:fs/promises';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { kubeThrough } from '../../../reconcile/clients/kube.ts';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startControlPlane } from '../../support/cluster/control-plane.ts';
import { type Kubectl, kubectlFor } from '../../support/cluster/kubectl.ts';
import { enterSandbox } from '../../support/cluster/sandbox.ts';

export const install = resolve(import.meta.dirname, '../../../manifests/install');

export interface Answering {
  /** One request as an administrator; unknown fields are refused, as kubectl has them refused. */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer>;
}

export interface ApiServer extends Answering, AsyncDisposable {
  readonly kubectl: Kubectl;
  /** The same as whoever has that token, perhaps acting as somebody else. */
  sendAs(who: Who, path: string, body: object): Promise<Answer>;
  /** For a program that runs as that service account, with its own token. */
  kubeconfigOf(serviceAccount: { readonly namespace: string; readonly name: string }): Promise<string>;
  /** Our client, with that service account's own token. */
  kubeOf(serviceAccount: { readonly namespace: string; readonly name: string }): Promise<Kube>;
}

export interface Who {
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string; readonly [key: string]: unknown };
}

/**
 * A real control plane of this test's own, without nodes, with our CRDs. The rest of the script runs in its sandbox.
 */
export async function startApiServer(): Promise<ApiServer> {
  const binaries = await provisionBinaries();
  const sandbox = await enterSandbox(binariesEnvironment(binaries));
  const directory = join(sandbox.directory, 'control-plane');
  await mkdir(directory, { mode: 0o700 });

  await using parts = new AsyncDisposableStack();
  const controlPlane = parts.use(await startControlPlane(binaries, directory));
  const kubectl = kubectlFor(binaries.kubernetes.kubectl, controlPlane.kubeconfigPath);
  await kubectl(['apply', '-k', join(install, 'crds')]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);

  const { url, ca, identities } = controlPlane;
  const clients = parts.use(new DisposableStack());
  const kubeOf: ApiServer['kubeOf'] = async ({ namespace, name }) => {
    const token = (await kubectl(['-n', namespace, 'create', 'token', name])).trim();
    const credentials = { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
    const access = { server: new URL(url), credentials: () => Promise.resolve(credentials) };
    const kube = kubeThrough(access, { userAgent: 'etcd-ratchet/test' });
    clients.defer(() => kube.close());
    return kube;
  };
  const kubeconfigOf: ApiServer['kubeconfigOf'] = async ({ namespace, name }) => {
    const token = (await kubectl(['-n', namespace, 'create', 'token', name])).trim();
    const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'here', cluster }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'here', context: { cluster: 'here', user: name } }],
      'current-context': 'here',
    });
  };
  const started = parts.move();
  return {
    kubectl,
    send: (method, path, body) => ask(new URL(path, url), ca, { token: identities.admin.token }, method, body),
    sendAs: (who, path, body) => ask(new URL(path, url), ca, who, 'POST', body),
    kubeOf,
    kubeconfigOf,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** One request, of whoever has that token. */
export function ask(url: URL, ca: string, who: Who, method: string, body?: object): Promise<Answer> {
  url.searchParams.set('fieldValidation', 'Strict');
  const headers = { ...who.headers, authorization: `Bearer ${who.token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const question = request(url, { ca, method, headers, timeout: 10_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    question.on('timeout', () => question.destroy(new Error(`${method} ${url.pathname}: no answer in 10 s`)));
    question.on('error', reject);
    question.end(body && JSON.stringify(body));
  });
}
