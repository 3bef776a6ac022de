/** Every way in which an API server, or what stands before it, can fail to answer. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubeThrough } from '../../../reconcile/clients/kube.ts';
import { podAccess } from '../../../reconcile/clients/kube-access.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { startStopwatch } from '../../support/awake.ts';
import { selfSigned } from '../../support/git/certificate.ts';
import { type FaultServer, type Handler, inTurn, json, startFaultServer, status, text } from './fault-server.ts';

const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7' } };
const page = (items: unknown[], next = '') => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '9', ...(next && { continue: next }) },
  items,
});
const html = text(502, 'text/html', '<html><h1>Bad gateway</h1> you sent Bearer first-token</html>');
const preconditions = { uid: 'u' };

type Expected = { readonly reason: string; readonly class: KubeError['class']; readonly words?: RegExp };

const answers: readonly (readonly [string, Handler, Expected])[] = [
  ['hangs', () => {}, { reason: 'Timeout', class: 'retryable', words: /within 400 ms/ }],
  [
    'hangs in the middle',
    halfAnAnswer((_response) => {}),
    { reason: 'Timeout', class: 'retryable', words: /did not end/ },
  ],
  ['resets', (request) => request.socket.destroy(), { reason: 'Unreachable', class: 'retryable' }],
  [
    'breaks off',
    halfAnAnswer((response) => response.destroy()),
    { reason: 'BadAnswer', class: 'retryable', words: /broke off/ },
  ],
  ['is an error page', html, { reason: 'BadAnswer', class: 'retryable', words: /text\/html/ }],
  ['is a login page', text(200, 'text/html', '<html>'), { reason: 'BadAnswer', class: 'retryable' }],
  [
    'is a redirect',
    text(302, 'text/html', '', { location: 'https://elsewhere.example' }),
    { reason: 'BadAnswer', class: 'terminal' },
  ],
  [
    'is cut JSON',
    text(200, 'application/json', '{"kind":"Pod","metadata":{"na'),
    { reason: 'BadAnswer', class: 'retryable' },
  ],
  ['is a JSON array', json(200, [pod]), { reason: 'BadAnswer', class: 'retryable' }],
  ['is empty', text(200, 'application/json', ''), { reason: 'BadAnswer', class: 'retryable' }],
  ['is another object', json(200, { ...pod, metadata: { name: 'b' } }), { reason: 'BadAnswer', class: 'retryable' }],
  ['never ends', endless, { reason: 'TooLarge', class: 'retryable', words: /larger than/ }],
  ['is a proxy’s 404', text(404, 'text/html', '<html>'), { reason: 'BadAnswer', class: 'terminal' }],
  [
    'is a plain 404',
    text(404, 'text/plain', '404 page not found\n'),
    { reason: 'NotFound', class: 'terminal', words: /CRDs/ },
  ],
  [
    'is a 404 of another object',
    status(404, 'NotFound', 'no namespace', { name: 'n' }),
    { reason: 'NotFound', class: 'terminal' },
  ],
  [
    'is 401',
    status(401, 'Unauthorized', 'Unauthorized'),
    { reason: 'Unauthorized', class: 'terminal', words: /token/ },
  ],
  ['is 403', status(403, 'Forbidden', 'may not'), { reason: 'Forbidden', class: 'terminal', words: /may not/ }],
  ['is 409', status(409, 'Conflict', 'modified'), { reason: 'Conflict', class: 'precondition' }],
  ['is 422', status(422, 'Invalid', 'spec.a: wrong'), { reason: 'Invalid', class: 'terminal', words: /spec\.a/ }],
  [
    'is 429',
    text(429, 'text/plain', 'Too many', { 'retry-after': '30' }),
    { reason: 'TooManyRequests', class: 'retryable' },
  ],
  [
    'is 500',
    status(500, 'InternalError', 'webhook failed'),
    { reason: 'InternalError', class: 'retryable', words: /webhook/ },
  ],
  ['is 503', text(503, 'text/plain', 'starting'), { reason: 'ServiceUnavailable', class: 'retryable' }],
  [
    'quotes a token',
    status(403, 'Forbidden', 'no: Bearer first-token'),
    { reason: 'Forbidden', class: 'terminal', words: /\[token\]/ },
  ],
];

for (const [what, handler, expected] of answers) {
  test(`an answer that ${what} is ${expected.reason}, for a read and for a write`, async () => {
    await using server = await startFaultServer(handler);
    // What never ends is measured in bytes, and those take their time on a busy machine.
    const [limit, bound] = what === 'never ends' ? [20_000, 60_000] : [400, 2_500];
    const kube = client(server, limit);
    using watched = startStopwatch();
    await rejects(kube.get(resources.pods, 'n', 'a'), expected, /^GET pods n\/a: /);
    await rejects(kube.delete(resources.pods, 'n', 'a', { preconditions }), deleted(expected), /^DELETE pods n\/a: /);
    // To a watch these two are a quiet start and a regular end.
    if (what !== 'hangs in the middle' && what !== 'is empty') {
      const watch = kube.watch(resources.pods, { resourceVersion: '1', signal: AbortSignal.timeout(5_000) });
      await rejects(watch[Symbol.asyncIterator]().next(), {}, /^WATCH pods in all namespaces: /);
    }
    assert.ok(watched.milliseconds() < bound, 'bounded');
    kube.close();
  });

  function deleted(wanted: Expected): Partial<Expected> {
    // A delete does not look at the object that comes back.
    return what === 'is another object' ? { reason: 'none' } : wanted;
  }
}

test('an address without a listener is Unreachable, and named', async () => {
  const server = await startFaultServer(() => {});
  await server[Symbol.asyncDispose]();
  await using other = await startFaultServer(() => {});
  const kube = kubeThrough(podAccess({ host: '127.0.0.1', port: String(server.port), directory: other.directory }), {
    userAgent: 'test/0',
  });
  await rejects(
    kube.list(resources.pods, {}),
    { reason: 'Unreachable', class: 'retryable' },
    new RegExp(`127.0.0.1:${server.port}`),
  );
  await rejects(
    kube.create(resources.pods, pod),
    { reason: 'Unreachable', class: 'retryable' },
    /^((?!taken effect).)*$/,
  );
});

test('a certificate of another authority is a thing for a person', async () => {
  await using server = await startFaultServer(json(200, page([])));
  await writeFile(join(server.directory, 'ca.crt'), selfSigned().cert);
  await rejects(client(server).list(resources.pods, {}), { reason: 'Unreachable', class: 'terminal' }, /trusted/);
  assert.deepEqual(server.requests, [], 'the token was not sent');
});

test('a service that does not speak HTTP is BadAnswer', async () => {
  await using server = await startFaultServer((request) => request.socket.end('SSH-2.0-OpenSSH\r\n'));
  await rejects(client(server).list(resources.pods, {}), { reason: 'BadAnswer', class: 'retryable' });
});

test('a failed write says that it may have taken effect', async () => {
  await using server = await startFaultServer((request) => request.socket.destroy());
  await rejects(client(server).create(resources.pods, pod), { reason: 'Unreachable' }, /may have taken effect/);
  server.answer(() => {});
  await rejects(client(server).update(resources.pods, pod), { reason: 'Timeout' }, /may have taken effect/);
  assert.equal(server.requests.length, 2, 'and it is never repeated');
});

test('the caller’s signal ends a request before its own limit', async () => {
  await using server = await startFaultServer(() => {});
  using watched = startStopwatch();
  const signal = AbortSignal.timeout(100);
  await rejects(client(server, 5_000).list(resources.pods, { signal }), { reason: 'Timeout', class: 'retryable' });
  assert.ok(watched.milliseconds() < 1_000);
});

test('a request for which no time is left is not sent, and blames no credentials', async () => {
  await using server = await startFaultServer(json(200, page([])));
  const kube = client(server);
  const signal = AbortSignal.abort(new Error('the pass is over'));
  const said = { class: 'retryable', reason: 'Timeout' } as const;
  await rejects(kube.list(resources.pods, { signal }), said, /not sent: no time was left \(the pass is over\)$/);
  assert.deepEqual(kube.requests(), {});
  kube.close();
});

test('requests share one connection, and a read survives that it was closed meanwhile', async () => {
  await using server = await startFaultServer(json(200, page([])));
  const kube = client(server);
  for (let i = 0; i < 30; i += 1) await kube.list(resources.pods, {});
  assert.equal(server.connections(), 1);
  server.answer(inTurn((request) => request.socket.destroy(), json(200, page([pod]))));
  assert.equal((await kube.list(resources.pods, {})).items.length, 1);
  assert.equal(server.connections(), 2);
  assert.equal(kube.requests()['LIST pods'], 32);
  server.answer((request) => request.socket.destroy());
  await rejects(kube.list(resources.pods, {}), { reason: 'Unreachable' });
  assert.equal(server.requests.length, 34, 'repeated once and no more');
  kube.close();
});

test('a read waits once for as long as a busy API server asks, if that is short', async () => {
  const busy = text(429, 'text/plain', 'Too many requests', { 'retry-after': '1' });
  await using server = await startFaultServer(inTurn(busy, json(200, page([pod]))));
  assert.equal((await client(server).list(resources.pods, {})).items.length, 1);
  server.answer(busy);
  await rejects(client(server).list(resources.pods, {}), { reason: 'TooManyRequests' });
  await rejects(client(server).create(resources.pods, pod), { reason: 'TooManyRequests' });
  assert.equal(server.requests.length, 5);
});

test('a list is read to its last page', async () => {
  const pages = [page([pod], 'p2'), page([pod], 'p3'), page([pod])].map((body) => json(200, body));
  await using server = await startFaultServer(inTurn(...pages));
  const { items, resourceVersion } = await client(server).list(resources.pods, { labelSelector: 'a=b,c in (d)' });
  assert.equal(items.length, 3);
  assert.equal(resourceVersion, '9');
  assert.match(server.requests[2] ?? '', /limit=500&labelSelector=a%3Db%2Cc\+in\+%28d%29&continue=p3$/);
});

test('a list whose next page has expired starts again, once', async () => {
  const gone = status(410, 'Expired', 'the provided continue parameter is too old');
  await using server = await startFaultServer(inTurn(json(200, page([pod], 'p2')), gone, json(200, page([pod, pod]))));
  assert.equal((await client(server).list(resources.pods, {})).items.length, 2);
  server.answer(inTurn(json(200, page([pod], 'p2')), gone, json(200, page([pod], 'p2')), gone));
  await rejects(client(server).list(resources.pods, {}), { reason: 'Expired', class: 'precondition' });
});

test('a list that never ends is given up', async () => {
  await using server = await startFaultServer(json(200, page([], 'again')));
  const kube = client(server);
  await rejects(kube.list(resources.pods, {}), { reason: 'BadAnswer' }, /twice/);
  kube.close();
});

test('a list of something else is BadAnswer', async () => {
  for (const body of [
    {},
    pod,
    { ...page([]), items: 7 },
    { ...page([]), metadata: {} },
    { ...page([]), kind: 'SecretList' },
  ]) {
    await using server = await startFaultServer(json(200, body));
    await rejects(client(server).list(resources.pods, {}), { reason: 'BadAnswer' });
  }
});

test('a rotated token is used for the very next request', async () => {
  const seen: (string | undefined)[] = [];
  await using server = await startFaultServer((request, response) => {
    seen.push(request.headers.authorization);
    json(200, page([]))(request, response);
  });
  const kube = client(server);
  await kube.list(resources.pods, {});
  await writeFile(join(server.directory, 'token'), 'second-token');
  await kube.list(resources.pods, {});
  assert.deepEqual(seen, ['Bearer first-token', 'Bearer second-token']);
  await writeFile(join(server.directory, 'token'), '');
  await rejects(kube.list(resources.pods, {}), { reason: 'NoCredentials', class: 'terminal' }, /is empty/);
  kube.close();
});

test('the clock is that of real answers, not of a proxy', async () => {
  await using server = await startFaultServer(json(200, page([]), { date: 'Wed, 21 Oct 2026 07:28:00 GMT' }));
  const kube = client(server);
  assert.equal(kube.now(), undefined);
  await kube.list(resources.pods, {});
  server.answer(text(502, 'text/html', '<html>', { date: 'Wed, 21 Oct 2037 07:28:00 GMT' }));
  await rejects(kube.list(resources.pods, {}), {});
  assert.equal(kube.now()?.toISOString(), '2026-10-21T07:28:00.000Z');
  kube.close();
});

test('the clock runs on between two answers', async (t) => {
  await using server = await startFaultServer(json(200, page([]), { date: 'Wed, 21 Oct 2026 07:28:00 GMT' }));
  const kube = client(server);
  await kube.list(resources.pods, {});
  const since = performance.now();
  t.mock.method(performance, 'now', () => since + 3_600_500);
  assert.equal(kube.now()?.toISOString(), '2026-10-21T08:28:00.000Z');
  kube.close();
});

test('impersonation names the user, and leaves its groups to the API server', async () => {
  let seen: unknown;
  await using server = await startFaultServer((request, response) => {
    seen = request.headersDistinct['impersonate-group'];
    assert.equal(request.headers['impersonate-user'], 'system:serviceaccount:team:fleet');
    json(200, page([]))(request, response);
  });
  await client(server).as({ namespace: 'team', name: 'fleet' }).list(resources.pods, {});
  assert.equal(seen, undefined);
});

for (const [what, lines, expected] of [
  [
    'an ERROR event of 410',
    [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Gone' } }],
    { reason: 'Expired', class: 'precondition' },
  ],
  [
    'an ERROR event of 500',
    [{ type: 'ERROR', object: { code: 500, reason: 'InternalError' } }],
    { reason: 'InternalError', class: 'retryable' },
  ],
  ['an event of no known type', [{ type: 'SURPRISE', object: {} }], { reason: 'BadAnswer' }],
  ['a line that is not JSON', ['<html>'], { reason: 'BadAnswer' }],
  ['a line without an object', [{ type: 'ADDED' }], { reason: 'BadAnswer' }],
  ['a line without an end', ['x'.repeat(9 * 1024 * 1024)], { reason: 'BadAnswer' }],
] as const) {
  test(`in a watch, ${what} is ${expected.reason}`, async () => {
    const event = { type: 'MODIFIED', object: pod };
    await using server = await startFaultServer((_request, response) => {
      for (const line of [{ type: 'BOOKMARK', object: pod }, event, ...lines]) {
        response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
      }
      response.end();
    });
    const kube = client(server);
    const seen: string[] = [];
    const watching = async () => {
      const signal = AbortSignal.timeout(5_000);
      for await (const { type } of kube.watch(resources.pods, { resourceVersion: '1', signal })) seen.push(type);
    };
    await rejects(watching(), expected);
    assert.deepEqual(seen, ['MODIFIED']);
    kube.close();
  });
}

test('a silent watch outlives the limit of requests and ends on its signal', async () => {
  await using server = await startFaultServer((request, response) => {
    if (!request.url?.includes('watch=true')) return json(200, page([]))(request, response);
    response.writeHead(200);
    response.flushHeaders();
  });
  const kube = client(server, 1_000);
  const started = performance.now();
  using watched = startStopwatch();
  const watches = Array.from({ length: 6 }, async () => {
    const signal = AbortSignal.timeout(2_500);
    for await (const _ of kube.watch(resources.pods, { resourceVersion: '1', signal }))
      assert.fail('there is no event');
  });
  await kube.list(resources.pods, {});
  await Promise.all(watches);
  const took = performance.now() - started;
  assert.ok(took > 2_450 && watched.milliseconds() < 4_000, `${took} ms`);
  kube.close();
});

function client(server: FaultServer, requestTimeoutMs = 400): Kube {
  const access = podAccess({ host: '127.0.0.1', port: String(server.port), directory: server.directory });
  return kubeThrough(access, { userAgent: 'test/0', requestTimeoutMs });
}

async function rejects(promise: Promise<unknown>, expected: Partial<Expected>, words = /./): Promise<void> {
  if (expected.reason === 'none') {
    await promise;
    return;
  }
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof KubeError, String(error));
    if (expected.reason !== undefined) assert.equal(error.reason, expected.reason, error.message);
    if (expected.class !== undefined) assert.equal(error.class, expected.class, error.message);
    assert.match(error.message, expected.words ?? /./);
    assert.match(error.message, words);
    assert.doesNotMatch(error.message, /first-token/);
    return true;
  });
}

function halfAnAnswer(then: (response: Parameters<Handler>[1]) => void): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"kind":"Pod"', () => then(response));
  };
}

function endless(_request: Parameters<Handler>[0], response: Parameters<Handler>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
