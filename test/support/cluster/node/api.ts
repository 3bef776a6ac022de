import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';

export type ApiServer = { readonly url: string; readonly ca: string; readonly token: string };

/** The API server's answer to a request that it refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export type PatchKind = 'merge' | 'strategic-merge';
export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: T };

/** A thin client: JSON in, JSON out, one connection pool. Every call is bounded by `timeoutMs` unless it is a watch. */
export type Api = {
  get<T>(path: string): Promise<T>;
  create<T>(path: string, body: unknown): Promise<T>;
  replace<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, kind: PatchKind, body: unknown): Promise<T>;
  remove(path: string, options?: unknown): Promise<void>;
  watch<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>>;
  close(): void;
};

const timeoutMs = 20_000;

/** @throws ApiError from every call that the server refused, and the socket's own error when it could not be asked. */
export function createApi(server: ApiServer): Api {
  const agent = new Agent({ keepAlive: true, ca: server.ca, maxSockets: 64 });

  function send(method: string, path: string, signal: AbortSignal, body?: unknown, type = 'application/json') {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${server.token}`,
        accept: 'application/json',
        'user-agent': 'process-node',
        ...(payload !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
      };
      request(new URL(path, server.url), { method, agent, headers, signal })
        .on('response', resolve)
        .on('error', reject)
        .end(payload);
    });
  }

  async function call<T>(method: string, path: string, body?: unknown, type?: string): Promise<T> {
    const response = await send(method, path, AbortSignal.timeout(timeoutMs), body, type);
    const text = await readText(response);
    if ((response.statusCode ?? 0) >= 300) throw refusal(response, text, `${method} ${path}`);
    return JSON.parse(text) as T;
  }

  async function* watch<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const response = await send('GET', path, signal);
    if (response.statusCode !== 200) throw refusal(response, await readText(response), `GET ${path}`);
    // A broken connection ends the lines without an error of its own; the caller starts again either way.
    response.on('error', () => response.destroy());
    try {
      for await (const line of createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })) {
        yield JSON.parse(line) as WatchEvent<T>;
      }
    } finally {
      response.destroy();
    }
  }

  return {
    get: (path) => call('GET', path),
    create: (path, body) => call('POST', path, body),
    replace: (path, body) => call('PUT', path, body),
    patch: (path, kind, body) => call('PATCH', path, body, `application/${kind}-patch+json`),
    remove: async (path, options) => {
      await call('DELETE', path, options);
    },
    watch,
    close: () => agent.destroy(),
  };
}

export function isStatus(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && statuses.includes(error.status);
}

async function readText(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

function refusal(response: IncomingMessage, text: string, what: string): ApiError {
  const status = response.statusCode ?? 0;
  try {
    const { reason, message } = JSON.parse(text) as { reason?: string; message?: string };
    return new ApiError(status, reason ?? 'Unknown', `${what}: ${message ?? text.slice(0, 200)}`);
  } catch {
    return new ApiError(status, 'Unknown', `${what}: HTTP ${status}: ${text.slice(0, 200)}`);
  }
}
