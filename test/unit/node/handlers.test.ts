import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runHandler } from '../../support/cluster/node/handlers.ts';

for (const [path, asked] of [
  ['health', '/health'],
  ['/health?full', '/health?full'],
  [undefined, '/'],
] as const) {
  test(`a probe of the path ${path} asks for ${asked}`, async () => {
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const target = { container: { name: 'one' }, podIP: '127.0.0.1', pid: 0, env: new Map() };
    const outcome = await runHandler({ httpGet: { port, ...(path && { path }) } }, target, 5_000);
    server.close();
    assert.deepEqual([outcome, paths], [{ ok: true }, [asked]]);
  });
}
