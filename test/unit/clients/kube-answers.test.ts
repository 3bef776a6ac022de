import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { objectOf, sharingAnnotations } from '../../../reconcile/clients/kube-answers.ts';
import { watchEvents } from '../../../reconcile/clients/kube-watch.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';

const target = { verb: 'GET', resource: resources.pods, namespace: 'n', name: 'a' } as const;
const replyWith = (kind: string, name: string) =>
  ({ kind: 'object', date: undefined, bytes: 0, object: { kind, metadata: { name } } }) as const;

test('an object is taken only if it is of the kind and the name that were asked for', () => {
  assert.equal(objectOf(target, replyWith('Pod', 'a'), 'a').metadata.name, 'a');
  for (const [kind, name] of [
    ['Secret', 'a'],
    ['Pod', 'b'],
    ['PodList', ''],
  ] as const) {
    assert.throws(() => objectOf(target, replyWith(kind, name), 'a'), { reason: 'BadAnswer' });
  }
});

test('annotations that an update left as they were are held once', () => {
  const made = (annotations: Readonly<Record<string, string>>, resourceVersion: string) => ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'a', namespace: 'n', resourceVersion, annotations },
  });
  const sent = made({ a: 'large' }, '7');
  const same = sharingAnnotations(sent, made({ a: 'large' }, '8'));
  assert.equal(same.metadata.annotations, sent.metadata.annotations);
  assert.equal(same.metadata.resourceVersion, '8');
  for (const others of [{ a: 'other' }, { a: 'large', b: 'more' }, { b: 'large' }, {}]) {
    assert.deepEqual(sharingAnnotations(sent, made(others, '8')), made(others, '8'));
  }
  const bare = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
  assert.equal(sharingAnnotations(bare, bare), bare);
});

test('a watch ends quietly between two events, and never in the middle of one', async () => {
  const event = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  assert.deepEqual(await typesOf(`${event}\n${event}\n`), ['ADDED', 'ADDED']);
  await assert.rejects(typesOf(`${event}\n${event.slice(0, 20)}`), { reason: 'BadAnswer' });
  await assert.rejects(typesOf(event), { reason: 'BadAnswer' });
});

async function typesOf(text: string): Promise<readonly string[]> {
  const message = Readable.from([Buffer.from(text)], { objectMode: false }) as IncomingMessage;
  const types: string[] = [];
  for await (const { type } of watchEvents({ ...target, verb: 'WATCH' }, message, new AbortController().signal)) {
    types.push(type);
  }
  return types;
}
