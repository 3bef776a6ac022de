import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { MalformedEvent, readEvents } from '../../../functions/serve/events/read.ts';

/** Events made by the cloudevents package, in each mode; and whatever else may be sent here. */

const event = new CloudEvent({
  type: 'dev.knative.sources.ping',
  source: '/apis/v1/namespaces/default/pingsources/x',
  subject: 'payments/orders',
  team: 'platform',
  data: { message: 'höi' },
});

function read({ headers, body }: { headers: object; body: unknown }) {
  return readEvents(new Headers(headers as Record<string, string>), Buffer.from(String(body)));
}

const valid = event.toJSON() as Record<string, unknown>;
const structured = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
const batched = { 'content-type': 'application/cloudevents-batch+json' };
const binary = HTTP.binary(event);

for (const [mode, message] of [
  ['binary', binary],
  ['structured', HTTP.structured(event)],
  [
    'structured without a charset',
    { headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify(event) },
  ],
  [
    'structured, shouted',
    { headers: { 'content-type': 'Application/CloudEvents+JSON;charset=UTF-8' }, body: JSON.stringify(event) },
  ],
] as const) {
  test(`one event in ${mode} mode`, () => {
    const [found, ...others] = read(message);
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(found?.toJSON(), {
      id: event.id,
      type: event.type,
      source: event.source,
      team: 'platform',
    });
    assert.deepEqual(found?.data, { message: 'höi' });
  });
}

test('a batch is all its events; an empty one is none', () => {
  const found = read({ headers: batched, body: JSON.stringify([event, event.cloneWith({ id: 'second' })]) });
  assert.deepEqual(
    found.map(({ id }) => id),
    [event.id, 'second'],
  );
  assert.deepEqual(read({ headers: batched, body: '[]' }), []);
});

test('binary data that are no JSON stay text', () => {
  const { headers } = HTTP.binary(event.cloneWith({ datacontenttype: 'text/plain', data: 'x' }));
  assert.equal(read({ headers, body: 'plain words' })[0]?.data, 'plain words');
});

function without(name: string): object {
  return Object.fromEntries(Object.entries(valid).filter(([key]) => key !== name));
}

function headersWithout(name: string): object {
  return Object.fromEntries(Object.entries(binary.headers).filter(([key]) => key !== name));
}

for (const [what, headers, body] of [
  ['nothing', {}, ''],
  ['JSON that is no event', { 'content-type': 'application/json' }, '{}'],
  ['half a structured event', structured, JSON.stringify(event).slice(0, -5)],
  ['a structured event that is a list', structured, JSON.stringify([event])],
  ['a structured event that is null', structured, 'null'],
  ['a structured event that is a number', structured, '7'],
  ['a batch that is an object', batched, JSON.stringify(event)],
  ['a batch with null in it', batched, '[null]'],
  ['a batch with one bad among good', batched, JSON.stringify([event, without('source')])],
  ['a batch of too many', batched, JSON.stringify(Array.from({ length: 1001 }, () => valid))],
  ['a batch within a batch', batched, JSON.stringify([[event]])],
  ['no type', structured, JSON.stringify(without('type'))],
  ['no source', structured, JSON.stringify(without('source'))],
  ['an empty source', structured, JSON.stringify({ ...valid, source: '' })],
  ['no version', structured, JSON.stringify(without('specversion'))],
  ['version 11.0', structured, JSON.stringify({ ...valid, specversion: '11.0' })],
  ['version 0.3', structured, JSON.stringify({ ...valid, specversion: '0.3' })],
  ['binary without source', headersWithout('ce-source'), '{}'],
  ['binary without type', headersWithout('ce-type'), '{}'],
  ['binary with version 2', { ...binary.headers, 'ce-specversion': '2' }, '{}'],
  ['binary whose JSON is none', binary.headers, '{"half":'],
  ['a name that no attribute may have', structured, JSON.stringify({ ...valid, 'Not-Allowed': 1 })],
  ['a prototype', structured, `{"__proto__": {"polluted": true}, "id": "1"}`],
  ['data that claim to be base64', structured, JSON.stringify({ ...valid, data_base64: 7 })],
] as const) {
  test(`${what} is told as malformed, without a quotation`, () => {
    assert.throws(
      () => read({ headers, body }),
      (error) => error instanceof MalformedEvent && error.message.length < 130,
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
}

test('an event that lacks only its id is refused as well', () => {
  assert.throws(() => read({ headers: structured, body: JSON.stringify(without('id')) }), MalformedEvent);
});

test('bytes that are no text are malformed', () => {
  assert.throws(() => readEvents(new Headers(structured), Buffer.from([0xff, 0xfe])), MalformedEvent);
});

test('whatever comes, it is read or told as malformed', () => {
  const names = ['ce-id', 'ce-type', 'ce-source', 'ce-specversion', 'ce-time', 'ce-x', 'content-type'];
  const types = fc.constantFrom(
    ...Object.values(structured),
    ...Object.values(batched),
    'application/json',
    'text/plain',
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), fc.string({ maxLength: 40 })),
      types,
      fc.oneof(fc.json(), fc.string(), fc.constantFrom(JSON.stringify(event), '[{}]', '{"id":"1"}')),
      (given, contentType, body) => {
        const clean = Object.entries(given).map(([name, value]) => [name, value.replace(/[^\x21-\x7e]/g, '')]);
        try {
          read({ headers: { ...Object.fromEntries(clean), 'content-type': contentType }, body });
        } catch (error) {
          assert.ok(error instanceof MalformedEvent, String(error));
        }
      },
    ),
    { numRuns: 2000 },
  );
});
