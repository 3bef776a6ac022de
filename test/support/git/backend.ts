import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { gitEnvironment } from './git.ts';

type GitRequest = Readable & Pick<IncomingMessage, 'url' | 'method' | 'headers' | 'socket'>;

/** Answers one request with system git's own `http-backend` (a CGI program). Resolves when the answer was sent. */
export async function gitHttpBackend(root: string, request: GitRequest, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://server');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...gitEnvironment(),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      REMOTE_ADDR: request.socket.remoteAddress,
      CONTENT_TYPE: request.headers['content-type'],
      CONTENT_LENGTH: request.headers['content-length'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: request.headers['git-protocol']?.toString(),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  backend.on('error', reject);
  backend.on('close', () => resolve());
  response.on('close', () => backend.kill());
  backend.stderr.resume();
  backend.stdin.on('error', () => {}); // the backend may answer (an error) without reading the body
  request.pipe(backend.stdin);

  let head = Buffer.alloc(0);
  let started = false;
  for await (const chunk of backend.stdout) {
    if (started) {
      response.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) continue;
    started = true;
    sendHead(head.toString('latin1', 0, end), response);
    response.write(head.subarray(end + 4));
  }
  await closed;
  if (!started) response.statusCode = 500;
  response.end();
}

/** A CGI program states its status as a header. */
function sendHead(head: string, response: ServerResponse): void {
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
}
