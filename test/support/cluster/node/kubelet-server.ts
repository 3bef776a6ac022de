import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type LogRequest, streamLog } from './log-stream.ts';
import { kubeletPort } from './node-object.ts';
import { selfSigned } from './self-signed.ts';

/** Finds the log file of a container's current or previous run. */
export type FindLog = (of: {
  namespace: string;
  pod: string;
  container: string;
  previous: boolean;
}) => { file: string; running: () => boolean } | undefined;

/** The part of kubelet's API that the API server calls for `kubectl logs`. */
export async function startKubeletServer(address: string, findLog: FindLog): Promise<{ close(): void }> {
  const server = createServer(selfSigned(address), (request, response) => {
    serve(request, response, findLog).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  server.listen(kubeletPort, address);
  await once(server, 'listening');
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, findLog: FindLog): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://node');
  if (url.pathname === '/healthz') {
    response.end('ok');
    return;
  }
  const [, namespace, pod, container] = /^\/containerLogs\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url.pathname) ?? [];
  if (namespace === undefined || pod === undefined || container === undefined) {
    response.writeHead(404).end(`the process node has no ${url.pathname}: of kubelet's API it has logs only`);
    return;
  }
  const { searchParams: query } = url;
  const log = findLog({ namespace, pod, container, previous: query.get('previous') === 'true' });
  if (!log) {
    response.writeHead(400).end(`container "${container}" in pod "${pod}" has no such log`);
    return;
  }
  const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
  const wanted: LogRequest = {
    file: log.file,
    running: log.running,
    follow: query.get('follow') === 'true',
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
  };
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  await streamLog(wanted, response);
}
