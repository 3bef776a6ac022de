import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { emitFollowUps, type FollowUpData, SinkError, sinkFrom } from '../../../functions/pass/follow-up/sink.ts';
import { createMemory } from '../../../functions/serve/events/change.ts';
import { coalescing } from '../../../functions/serve/sharing.ts';

let status = 202;
let heard: CloudEvent<FollowUpData>[] = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const headers = request.headers as IncomingHttpHeaders;
  heard.push(HTTP.toEvent({ headers, body }) as CloudEvent<FollowUpData>);
  response.writeHead(status).end('not for us');
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => server.close());
beforeEach(() => {
  status = 202;
  heard = [];
});

function sink(overrides?: string) {
  const { port } = server.address() as AddressInfo;
  const found = sinkFrom({
    K_SINK: `http://127.0.0.1:${port}/broker`,
    ...(overrides && { K_CE_OVERRIDES: overrides }),
  });
  assert.ok(found);
  return found;
}

test('without K_SINK there is no sink', () => {
  assert.equal(sinkFrom({}), undefined);
});

test('a follow-up is a valid event that says which clusters, with what K_CE_OVERRIDES adds', async () => {
  await emitFollowUps(sink('{"extensions": {"team": "platform", "type": "evil", "source": "evil"}}'), '/us', ['a/b']);
  const [event] = heard;
  assert.ok(event?.validate());
  assert.partialDeepStrictEqual(event, {
    type: 'dev.ratchet.etcd.follow-up',
    source: '/us',
    subject: 'a/b',
    team: 'platform',
    data: { clusters: ['a/b'] },
  });
});

test('many clusters are told in portions, none at all as one event for all', async () => {
  const names = Array.from({ length: 250 }, (_, n) => `a/c-${n}`);
  await emitFollowUps(sink(), '/us', names);
  assert.deepEqual(
    heard.map(({ data }) => data?.clusters.length),
    [100, 100, 50],
  );
  assert.deepEqual(
    heard.flatMap(({ data }) => data?.clusters ?? []),
    names,
  );
  await emitFollowUps(sink(), '/us', []);
  assert.deepEqual(heard.at(-1)?.data, { clusters: [] });
  assert.equal(new Set(heard.map(({ id }) => id)).size, 4);
});

for (const [what, env] of [
  ['a sink that is no address', { K_SINK: 'broker' }],
  ['a sink of another protocol', { K_SINK: 'file:///etc/passwd' }],
  ['overrides that are no JSON', { K_SINK: 'http://b', K_CE_OVERRIDES: '{' }],
  ['extensions with names that are none', { K_SINK: 'http://b', K_CE_OVERRIDES: '{"extensions": {"X-Y": "z"}}' }],
  ['extensions that are no text', { K_SINK: 'http://b', K_CE_OVERRIDES: '{"extensions": {"x": {}}}' }],
] as const) {
  test(`${what}: refused, and said`, () => {
    assert.throws(() => sinkFrom(env), SinkError);
  });
}

test('overrides that say nothing are none', () => {
  for (const K_CE_OVERRIDES of ['{}', 'null', '{"extensions": null}']) {
    assert.deepEqual(sinkFrom({ K_SINK: 'http://b', K_CE_OVERRIDES })?.extensions, {});
  }
});

test('a sink that refuses, or that is not there, is an error with its host', async () => {
  status = 503;
  await assert.rejects(emitFollowUps(sink(), '/us', ['a/b']), /127\.0\.0\.1:\d+ answered 503/);
  const gone = sinkFrom({ K_SINK: 'http://127.0.0.1:1/' });
  assert.ok(gone);
  await assert.rejects(emitFollowUps(gone, '/us', []), SinkError);
});

for (const [what, env] of [
  ['an address that no request can be made to', { K_SINK: 'http://u%ZZ:p@127.0.0.1:1/' }],
  ['an extension that would be a header of its own', { K_CE_OVERRIDES: '{"extensions": {"a": "x\\r\\ny: z"}}' }],
  ['an extension that no header can hold', { K_CE_OVERRIDES: '{"extensions": {"a": "→"}}' }],
  ['an extension that is a method of the library', { K_CE_OVERRIDES: '{"extensions": {"validate": "x"}}' }],
] as const) {
  test(`${what}: the sink's error and no other, so that a pass goes on without it`, async () => {
    const found = sinkFrom({ K_SINK: 'http://127.0.0.1:1/', ...env });
    assert.ok(found);
    await assert.rejects(emitFollowUps(found, '/us', ['a/b']), SinkError);
  });
}

test('of one key one runs and one waits, for all who asked meanwhile; other keys do not wait', async () => {
  const shared = coalescing<number>();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const work = async () => {
    const mine = runs++;
    await gates[mine]?.promise;
    return mine;
  };
  const first = shared('a', work);
  const rest = Array.from({ length: 5 }, () => shared('a', work));
  assert.equal(await shared('b', async () => 7), 7);
  assert.equal(runs, 1);
  gates[0]?.resolve();
  assert.equal(await first, 0);
  gates[1]?.resolve();
  assert.deepEqual(await Promise.all(rest), [1, 1, 1, 1, 1]);
  assert.equal(await shared('a', async () => 3), 3, 'and then anew');
});

test('one that fails does not keep the next from running', async () => {
  const shared = coalescing<string>();
  const failing = shared('a', async () => {
    throw new Error('no');
  });
  const next = shared('a', async () => 'yes');
  await assert.rejects(failing);
  assert.equal(await next, 'yes');
});

test('the memory forgets the oldest, and never grows beyond its bound', () => {
  const memory = createMemory(2);
  for (const uid of ['a', 'b', 'c']) memory.keep({ uid, matter: 'x' });
  assert.deepEqual(
    ['a', 'b', 'c'].map((uid) => memory.isNews({ uid, matter: 'x' })),
    [true, false, false],
  );
});
