import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { healthAt } from '../../../reconcile/clients/member-health.ts';

const well = '{"health":"true","reason":""}';

async function healthBy(listener: RequestListener, signal = AbortSignal.timeout(10_000)): Promise<boolean> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await healthAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, signal);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const saying = (body: string, status = 200) => healthBy((_, response) => response.writeHead(status).end(body));

test('a member is well that says so at /health', async () => {
  const asked: (string | undefined)[] = [];
  const isWell = await healthBy(({ method, url }, response) => {
    asked.push(method, url);
    response.end(well);
  });
  assert.deepEqual([isWell, ...asked], [true, 'GET', '/health']);
  assert.equal(await saying('{"health":"true"}'), true, 'as 3.5 says it');
});

describe('a member is not well', () => {
  for (const [what, body, status] of [
    ['that says so', '{"health":"false","reason":"NO_LEADER"}', 503],
    ['that says so, and 200', '{"health":"false","reason":"ALARM NOSPACE"}', 200],
    ['that says it is, and 503', well, 503],
    ['that says something else', '{"health":true}', 200],
    ['that says nothing', '', 200],
    ['that sends a page', '<html>', 200],
    ['that sends a list', '["health"]', 200],
    ['that sends null', 'null', 200],
  ] as const)
    test(what, async () => assert.equal(await saying(body, status), false));

  test('that sends us elsewhere, and elsewhere is not asked', async () => {
    let asked = 0;
    const isWell = await healthBy(({ url }, response) => {
      asked += 1;
      if (url === '/health') response.writeHead(307, { location: '/well' }).end(well);
      else response.end(well);
    });
    assert.deepEqual([isWell, asked], [false, 1]);
  });

  test('that sends more than etcd would, and no more than that is taken', async () => {
    let sent = 0;
    const isWell = await healthBy((_, response) => {
      const some = Buffer.alloc(1024 ** 2, ' ');
      const more = () => {
        sent += some.length;
        response.write(some);
      };
      response.on('drain', more);
      more();
    });
    assert.equal(isWell, false);
    assert.ok(sent < 32 * 1024 ** 2, `${sent} bytes`);
  });

  test('that answers nothing within a second', async () => {
    const began = performance.now();
    assert.equal(await healthBy(() => undefined), false);
    assert.ok(performance.now() - began < 5_000);
  });

  test('where nothing listens, and where the invocation has ended', async () => {
    assert.equal(await healthAt('http://127.0.0.1:1', AbortSignal.timeout(10_000)), false);
    assert.equal(await healthBy((_, response) => response.end(well), AbortSignal.abort()), false);
  });
});
