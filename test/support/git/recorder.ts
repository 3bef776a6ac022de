import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { allowThisMachine } from '../network.ts';

export interface RecordedRequest {
  readonly method: string;
  /** Without the query, as it was sent. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** JSON as it was meant; `undefined` for none. */
  readonly body: unknown;
}

export type Answer = (request: RecordedRequest, response: ServerResponse) => void;

/** A web server on loopback that remembers what it was asked, and answers as it is told. */
export interface Recorder extends AsyncDisposable {
  readonly url: string;
  readonly requests: RecordedRequest[];
  answerWith(answer: Answer): void;
}

export async function startRecorder(
  answer: Answer = (_, response) => replyJson(response, {}),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Recorder> {
  allowThisMachine();
  const requests: RecordedRequest[] = [];
  let current = answer;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://recorder');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    requests.push(recorded);
    current(recorded, response);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    take(request, response).catch((error: unknown) => {
      console.error('the recorder failed:', error);
      response.destroy();
    });
  }

  const server = tls ? createSecureServer(tls, handle) : createServer(handle);
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (next) => {
      current = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

export function replyJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
