import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readAlerts } from '../../../reconcile/clients/prometheus.ts';

async function serving(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const never = new AbortController().signal;

test('alerts are asked for below the path of the URL, with or without a slash at its end', async () => {
  const asked: (string | undefined)[] = [];
  using prometheus = await serving(({ url }, response) => {
    asked.push(url);
    response.end('{}');
  });
  for (const path of ['', '/', '/prometheus', '/prometheus//'])
    assert.equal(await readAlerts(`${prometheus.url}${path}`, never), '{}');
  assert.deepEqual(asked, [
    '/api/v1/alerts',
    '/api/v1/alerts',
    '/prometheus/api/v1/alerts',
    '/prometheus/api/v1/alerts',
  ]);
});

test('an answer that leads elsewhere is not followed', async () => {
  let others = 0;
  using other = await serving((_, response) => {
    others += 1;
    response.end('{}');
  });
  using prometheus = await serving((_, response) => response.writeHead(302, { location: other.url }).end());
  await assert.rejects(readAlerts(prometheus.url, never));
  assert.equal(others, 0);
});

test('an answer with another status is an error that says which', async () => {
  using prometheus = await serving((_, response) => response.writeHead(503).end('overloaded'));
  await assert.rejects(readAlerts(prometheus.url, never), /status 503/);
});

test('an answer that does not end is left at four mebibytes', async () => {
  using prometheus = await serving((_, response) => {
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const more = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await assert.rejects(readAlerts(prometheus.url, never), /longer than 4194304 bytes/);
});

test('an answer that does not come is left when the step is out of time', async () => {
  using prometheus = await serving(() => undefined);
  await assert.rejects(readAlerts(prometheus.url, AbortSignal.timeout(50)), { name: 'TimeoutError' });
});
