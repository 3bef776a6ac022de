import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { kubeThrough } from '../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';

/** Requests that are sent again, and how often: over real sockets, because a kept connection that has died is one. */

type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => void;

interface Stage extends AsyncDisposable {
  readonly kube: Kube;
  /** Methods, as the server saw them. */
  readonly seen: readonly string[];
}

async function stage(answer: Answer): Promise<Stage> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.method ?? '');
    answer(request, response, seen.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const kube = kubeThrough(
    { server: url, credentials: async () => ({ headers: {}, tls: {} }) },
    { userAgent: 'test/0', requestTimeoutMs: 5_000 },
  );
  return {
    kube,
    seen,
    [Symbol.asyncDispose]: async () => {
      kube.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } };

/**
 * The first request leaves a connection open; the second finds it reset, and so does every one that is not repeated.
 */
const dyingConnection: Answer = (request, response, number) => {
  if (number === 2) request.socket.resetAndDestroy();
  else say(response, 200, { ...secret, metadata: { ...secret.metadata, uid: 'u', resourceVersion: '7' } });
};

test('a read over a kept connection that has died is asked again', async () => {
  await using scene = await stage(dyingConnection);
  const read = () => scene.kube.get(resources.secrets, 'n', 's');
  await read();
  assert.equal((await read())?.metadata.name, 's');
  assert.deepEqual(scene.seen, ['GET', 'GET', 'GET']);
});

test('a write over a kept connection that has died is never sent again: it may have been seen', async () => {
  await using scene = await stage(dyingConnection);
  await scene.kube.get(resources.secrets, 'n', 's');
  await assert.rejects(scene.kube.create(resources.secrets, secret), { name: 'KubeError', reason: 'Unreachable' });
  assert.deepEqual(scene.seen, ['GET', 'POST']);
});

test('a list whose pages expire begins anew once, and not without end', async () => {
  await using scene = await stage((request, response, number) => {
    // An end after all, so that a client without one fails here, and does not hang.
    const goesOn = request.url?.includes('continue=') && number < 20;
    if (goesOn) return say(response, 410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
    const next = number < 20 ? { continue: 'page-2' } : {};
    say(response, 200, { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9', ...next }, items: [] });
  });
  await assert.rejects(scene.kube.list(resources.pods, {}), { reason: 'Expired' });
  assert.equal(scene.seen.length, 4);
});
