import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ProxyOptions {
  /** `user:password`; without it, anybody may pass. */
  readonly auth?: string;
  /** Whatever is asked for is fetched here, so that only who comes through the proxy finds it. */
  readonly leadsTo?: string;
  /** What it answers to every CONNECT. */
  readonly refuses?: string;
  /** It takes every CONNECT and never answers. */
  readonly silent?: boolean;
}

/** A web proxy on loopback: CONNECT for HTTPS, absolute addresses for HTTP. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** `CONNECT host:port`, or `GET http://…`. */
  readonly asked: string[];
  /** What clients sent through tunnels, as the proxy sees it. */
  overheard(): Buffer;
}

export async function startProxy({ auth, leadsTo, refuses, silent }: ProxyOptions = {}): Promise<Proxy> {
  const asked: string[] = [];
  const overheard: Buffer[] = [];
  const sockets = new Set<Socket>();

  function admitted({ headers }: IncomingMessage): boolean {
    return !auth || headers['proxy-authorization'] === `Basic ${Buffer.from(auth).toString('base64')}`;
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    asked.push(`${request.method} ${request.url}`);
    if (!admitted(request)) {
      response.writeHead(407).end();
      return;
    }
    const wanted = new URL(request.url ?? '');
    const target = new URL(wanted.pathname + wanted.search, leadsTo ?? wanted.origin);
    const onward = requestHttp(target, { method: request.method, headers: request.headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  function tunnel(request: IncomingMessage, client: Socket): void {
    asked.push(`CONNECT ${request.url}`);
    sockets.add(client);
    client.on('error', () => client.destroy());
    if (silent) return;
    const refusal = admitted(request) ? refuses : 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    if (refusal !== undefined) {
      client.end(refusal);
      return;
    }
    const { hostname, port } = new URL(leadsTo ?? `http://${request.url}`);
    const target = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    sockets.add(target);
    target.on('error', () => client.destroy());
    client.on('data', (chunk: Buffer) => overheard.push(chunk));
    client.pipe(target).pipe(client);
  }

  const server = createServer(forward);
  server.on('connect', tunnel);
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${auth ? `${auth}@` : ''}127.0.0.1:${port}`,
    asked,
    overheard: () => Buffer.concat(overheard),
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await closed.promise;
    },
  };
}
