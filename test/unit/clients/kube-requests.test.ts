import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { kubeThrough } from '../../../reconcile/clients/kube.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7' } };

test('a read is repeated once when the API server asks for patience, a write never', async () => {
  await using server = await served((_request, response) => {
    response.writeHead(429, { 'content-type': 'text/plain', 'retry-after': '0' }).end('Too many requests');
  });
  await assert.rejects(server.kube.get(resources.pods, 'n', 'a'), { reason: 'TooManyRequests' });
  assert.deepEqual(server.seen.splice(0), ['GET', 'GET']);
  await assert.rejects(server.kube.create(resources.pods, pod), { reason: 'TooManyRequests' });
  await assert.rejects(server.kube.delete(resources.pods, 'n', 'a', { preconditions: { uid: 'u' } }), {
    reason: 'TooManyRequests',
  });
  assert.deepEqual(server.seen, ['POST', 'DELETE']);
});

test('a status update answers with the annotations that were sent, and a new resourceVersion', async () => {
  const cluster = { ...pod, kind: 'EtcdCluster', metadata: { ...pod.metadata, annotations: { a: 'large' } } };
  await using server = await served((_request, response) => {
    const metadata = { ...cluster.metadata, resourceVersion: '8' };
    response.end(JSON.stringify({ ...cluster, metadata, status: { observedGeneration: 1 } }));
  });
  const written = await server.kube.updateStatus(resources.clusters, cluster);
  assert.equal(written.metadata.annotations, cluster.metadata.annotations);
  assert.partialDeepStrictEqual(written, { metadata: { resourceVersion: '8' }, status: { observedGeneration: 1 } });
});

async function served(listener: RequestListener) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.method ?? '');
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const access = { server: new URL(`http://127.0.0.1:${port}`), credentials: async () => ({ headers: {}, tls: {} }) };
  const kube = kubeThrough(access, { userAgent: 'test/0' });
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
