import type { IncomingMessage, ServerResponse } from 'node:http';
import { gitHttpBackend } from './backend.ts';
import { isFormer } from './leading.ts';

/** How a Git server (or what stands before it) can misbehave. */
export type GitFault =
  /** Accepts the request and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the head of an answer and no more. */
  | { readonly kind: 'stall' }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** A web page, as a login wall sends it. */
  | { readonly kind: 'html'; readonly status?: number }
  /** The right content type and bytes that are not Git. */
  | { readonly kind: 'nonsense' }
  | { readonly kind: 'redirect'; readonly to: (url: string) => string; readonly status?: number }
  /** The connection dies in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** The answer ends early but orderly, as some proxies do it: `keep` is the part that is sent. */
  | { readonly kind: 'truncate'; readonly keep: number }
  /** One bit of the answer is flipped. */
  | { readonly kind: 'corrupt' }
  /** An endless answer. */
  | { readonly kind: 'flood' };

/** Misbehaves; `false` if this request is to be answered properly after all. */
export async function misbehave(
  fault: GitFault,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const upload = request.method === 'POST' && request.url?.endsWith('/git-upload-pack') === true;
  const type = upload ? 'application/x-git-upload-pack-result' : 'application/x-git-upload-pack-advertisement';
  switch (fault.kind) {
    case 'hang':
      return true;
    case 'stall':
      response.writeHead(200, { 'content-type': type }).write('0');
      return true;
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end('no\n');
      return true;
    case 'html':
      response
        .writeHead(fault.status ?? 200, { 'content-type': 'text/html; charset=utf-8' })
        .end('<html><body>Sign in</body></html>');
      return true;
    case 'nonsense':
      response.writeHead(200, { 'content-type': type }).end('the quick brown fox jumps over the lazy dog');
      return true;
    case 'redirect': {
      const location = fault.to(request.url ?? '/');
      if (location === request.url) return false;
      response.writeHead(fault.status ?? 302, { location }).end();
      return true;
    }
    case 'flood':
      response.writeHead(200, { 'content-type': type });
      flood(response);
      return true;
    case 'cut':
    case 'truncate':
    case 'corrupt':
      if (!upload || isFormer(request.url)) return false;
      await gitHttpBackend(root, request, distorting(response, fault));
      return true;
    default:
      return fault satisfies never;
  }
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, '0');
  while (!response.destroyed && response.write(chunk));
  response.once('drain', () => flood(response));
}

/** A response that collects what the backend writes, and sends it distorted. */
function distorting(
  response: ServerResponse,
  fault: Extract<GitFault, { kind: 'cut' | 'truncate' | 'corrupt' }>,
): ServerResponse {
  const chunks: Buffer[] = [];
  return new Proxy(response, {
    get(target, property) {
      if (property === 'write') return (chunk: Buffer) => chunks.push(chunk) > 0;
      if (property === 'end') return () => finish(target, Buffer.concat(chunks), fault);
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function finish(
  response: ServerResponse,
  body: Buffer,
  fault: Extract<GitFault, { kind: 'cut' | 'truncate' | 'corrupt' }>,
): void {
  if (fault.kind === 'cut') {
    response.setHeader('content-length', body.length);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  } else if (fault.kind === 'truncate') {
    response.end(body.subarray(0, Math.floor(body.length * fault.keep)));
  } else {
    const flipped = Buffer.from(body);
    const at = Math.floor(body.length / 2);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    response.end(flipped);
  }
}
