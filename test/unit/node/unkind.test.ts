import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api } from '../../support/cluster/node/api.ts';
import { rememberingMisses } from '../../support/cluster/node/dns-misses.ts';
import { createObjectCache } from '../../support/cluster/node/object-cache.ts';
import { createStatusWriter } from '../../support/cluster/node/status-writer.ts';
import type { ConfigMap, Pod } from '../../support/cluster/node/wire.ts';

/** In which ways the process node can be made as unkind as a kubelet. */

const podOf = (uid: string) => ({ metadata: { namespace: 'n', name: `pod-${uid}`, uid } }) as Pod;
const mapOf = (word: string, immutable: boolean) =>
  ({ metadata: { namespace: 'n', name: 'm', uid: word }, data: { word }, immutable }) as unknown as ConfigMap;

function shelf(first: ConfigMap | undefined) {
  let held = first;
  const api = {
    get: async (path: string) => held ?? assert.fail(path),
  } as unknown as Api;
  return {
    api,
    put: (next: ConfigMap | undefined) => {
      held = next;
    },
  };
}

test('a recreated immutable ConfigMap stays as it was while a pod of the node refers to it', async () => {
  const { api, put } = shelf(mapOf('old', true));
  const cache = createObjectCache(api, true);
  const read = async (uid: string) => (await cache.get<ConfigMap>(podOf(uid), 'configmaps', 'm'))?.data?.word;
  assert.equal(await read('a'), 'old');
  put(mapOf('new', true));
  assert.equal(await read('b'), 'old');
  cache.release(podOf('a'));
  assert.equal(await read('b'), 'old');
  cache.release(podOf('b'));
  assert.equal(await read('c'), 'new');
});

test('one that may change is read each time, and so is every one on a kind node', async () => {
  for (const [keeps, immutable] of [
    [true, false],
    [false, true],
  ] as const) {
    const { api, put } = shelf(mapOf('old', immutable));
    const cache = createObjectCache(api, keeps);
    const read = async () => (await cache.get<ConfigMap>(podOf('a'), 'configmaps', 'm'))?.data?.word;
    assert.equal(await read(), 'old');
    put(mapOf('new', immutable));
    assert.equal(await read(), 'new');
  }
});

test('a name that was asked for too early is not there for a while, though it has come', () => {
  const hosts: Record<string, string> = {};
  let now = 0;
  const lookUp = rememberingMisses({ service: () => undefined, slices: () => [], hosts }, 10_000, () => now);
  assert.equal(lookUp('git.example').kind, 'no-name');
  hosts['git.example'] = '10.1.2.3';
  now = 9_999;
  assert.equal(lookUp('GIT.example').kind, 'no-name');
  now = 10_000;
  assert.equal(lookUp('git.example').kind, 'addresses');
});

test('a status is told late, and then as it is by then', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sent: unknown[] = [];
  const api = { patch: async (_: string, __: string, body: { status: unknown }) => sent.push(body.status) };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const writer = createStatusWriter(api as unknown as Api, podOf('a'), log, 1_000);
  writer.report({ phase: 'Pending' });
  t.mock.timers.tick(999);
  writer.report({ phase: 'Running' });
  assert.deepEqual(sent, []);
  t.mock.timers.tick(1);
  await writer.settled();
  assert.deepEqual(sent, [{ phase: 'Running' }]);
});
