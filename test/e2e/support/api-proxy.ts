import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as forward } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parse, stringify } from 'yaml';

/** What becomes of one request on its way to the API server. */
export type Fate =
  | { readonly kind: 'pass' }
  /** It never arrives; `act` runs instead. */
  | { readonly kind: 'drop'; readonly act: () => void }
  /** It arrives and has its effect; `act` runs before the answer would. */
  | { readonly kind: 'swallow-answer'; readonly act: () => void }
  /** Not before the promise is kept. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Something that is no Kubernetes answer. */
  | { readonly kind: 'nonsense' }
  /** What an API server says of a group that nobody installed. */
  | { readonly kind: 'not-served' }
  /** No answer at all. */
  | { readonly kind: 'hang' };

export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Counted from 1; reads are not counted. */
  readonly write: number;
}

/** A way to the API server on which every request can be counted, dropped, held or spoiled. */
export interface ApiProxy extends AsyncDisposable {
  /** Leads through the proxy. */
  readonly kubeconfig: string;
  /** Every request so far, as `GET /path`. */
  readonly requests: readonly string[];
  /** Every write so far, as `POST /path`. */
  readonly writes: readonly string[];
}

const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export async function startApiProxy(
  kubeconfig: string,
  file: string,
  fateOf: (request: ProxiedRequest) => Fate,
): Promise<ApiProxy> {
  const config = parse(await readFile(kubeconfig, 'utf8'));
  const cluster = config.clusters[0].cluster;
  const upstream = new URL(cluster.server);
  const ca =
    Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString() ||
    (await readFile(cluster['certificate-authority'], 'utf8'));
  const requests: string[] = [];
  const writes: string[] = [];

  const server = createServer((request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    requests.push(`${method} ${path}`);
    if (writing.has(method)) writes.push(`${method} ${path}`);
    const fate = fateOf({ method, path, write: writing.has(method) ? writes.length : 0 });
    void meet(fate, request, response);
  });

  async function meet(fate: Fate, request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (fate.kind) {
      case 'hang':
        return;
      case 'nonsense':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome to the captive portal</html>');
        return;
      case 'not-served':
        response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n');
        return;
      case 'drop':
        fate.act();
        request.socket.destroy();
        return;
      case 'hold':
        await fate.until;
        return pass(request, response, undefined);
      case 'swallow-answer':
        return pass(request, response, fate.act);
      case 'pass':
        return pass(request, response, undefined);
    }
  }

  function pass(request: IncomingMessage, response: ServerResponse, instead: (() => void) | undefined): void {
    const { method, url: path, headers } = request;
    const onward = forward(
      {
        host: upstream.hostname,
        port: upstream.port || 443,
        method,
        path,
        ca,
        headers: { ...headers, host: upstream.host },
      },
      (answer) => {
        if (instead) {
          answer.resume().on('end', () => {
            instead();
            request.socket.destroy();
          });
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxied = {
    ...config,
    clusters: [
      { ...config.clusters[0], cluster: { 'insecure-skip-tls-verify': true, server: `http://127.0.0.1:${port}` } },
    ],
  };
  await writeFile(file, stringify(proxied), { mode: 0o600 });
  return {
    kubeconfig: file,
    requests,
    writes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
