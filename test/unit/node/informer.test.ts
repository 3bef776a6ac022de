import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type Api, ApiError, type WatchEvent } from '../../support/cluster/node/api.ts';
import { startInformer } from '../../support/cluster/node/informer.ts';
import type { KubeObject } from '../../support/cluster/node/wire.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };

function object(name: string, resourceVersion: string, uid = name): KubeObject {
  return { metadata: { name, uid, resourceVersion } };
}

/** An API server of one kind: each list and each watch is answered by the next entry; after the last, silence. */
function script(lists: KubeObject[][], watches: (WatchEvent<KubeObject>[] | Error)[]) {
  const asked: string[] = [];
  const silence = () => new Promise<never>(() => undefined);
  const api: Pick<Api, 'get' | 'watch'> = {
    get: async <T>(path: string) => {
      asked.push(path);
      const items = lists.shift() ?? (await silence());
      return { metadata: { resourceVersion: String(100 + asked.length) }, items } as T;
    },
    watch: async function* <T>(path: string) {
      asked.push(path.replace(/.*resourceVersion=/, 'watch from '));
      const events = watches.shift() ?? (await silence());
      if (events instanceof Error) throw events;
      yield* events as unknown as WatchEvent<T>[];
    },
  };
  return { api: api as Api, asked };
}

async function observe(lists: KubeObject[][], watches: (WatchEvent<KubeObject>[] | Error)[]) {
  const { api, asked } = script(lists, watches);
  const ending = new AbortController();
  const informer = startInformer({ api, log, signal: ending.signal }, '/things');
  const changes: string[] = [];
  informer.onChange((now, before) => {
    const show = (seen: KubeObject | undefined) => seen && `${seen.metadata.uid}@${seen.metadata.resourceVersion}`;
    changes.push(`${show(before) ?? '-'} → ${show(now) ?? '-'}`);
  });
  const deadline = Date.now() + 3000;
  while ((lists.length > 0 || watches.length > 0) && Date.now() < deadline) await turn();
  for (let n = 0; n < 10; n++) await turn();
  ending.abort();
  return { changes, asked, informer };
}

test('a list and a watch give each object once, then its changes', async () => {
  const { changes, informer } = await observe(
    [[object('a', '1')]],
    [
      [
        { type: 'MODIFIED', object: object('a', '2') },
        { type: 'ADDED', object: object('b', '3') },
        { type: 'DELETED', object: object('a', '4') },
      ],
    ],
  );
  assert.deepEqual(changes, ['- → a@1', 'a@1 → a@2', '- → b@3', 'a@2 → -']);
  assert.deepEqual(
    informer.list().map(({ metadata }) => metadata.name),
    ['b'],
  );
});

test('a watch that ends is resumed from the last version seen', async () => {
  const bookmark: WatchEvent<KubeObject> = { type: 'BOOKMARK', object: object('', '150') };
  const { asked } = await observe([[]], [[{ type: 'ADDED', object: object('a', '120') }, bookmark], []]);
  assert.deepEqual(asked.slice(0, 3), ['/things', 'watch from 101', 'watch from 150']);
});

test('a version too old means a new list, of which only the differences are told', async () => {
  const { changes } = await observe(
    [
      [object('kept', '1'), object('gone', '2')],
      [object('kept', '1'), object('new', '3')],
    ],
    [[{ type: 'ERROR', object: object('', '') }]],
  );
  assert.deepEqual(changes, ['- → kept@1', '- → gone@2', 'gone@2 → -', '- → new@3']);
});

test('a refused watch means a new list', async () => {
  const { asked } = await observe([[], []], [new ApiError(410, 'Expired', 'too old')]);
  assert.deepEqual(asked.slice(0, 3), ['/things', 'watch from 101', '/things']);
});

test('an object that was made again under its name is two objects', async () => {
  const { changes } = await observe(
    [[object('a', '1', 'first')], [object('a', '9', 'second')]],
    [[{ type: 'ERROR', object: object('', '') }]],
  );
  assert.deepEqual(changes, ['- → first@1', 'first@1 → -', '- → second@9']);
});
