import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { connectTo } from './support/client.ts';
import { condition, isConverged, isStalledFor } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { fill } from './support/fill.ts';
import { live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene();
const name = 'filled';

const actionsOf = ({ status }: EtcdCluster) => doneIn(status?.history).map(({ action }) => action);

async function filled(size: number, key: (number: number) => string): Promise<readonly string[]> {
  const client = connectTo(await stage().access(name), 5000);
  try {
    return await fill(client, key, size);
  } finally {
    client.close();
  }
}

test('a cluster runs out of space for its history, then for its data, and is upgraded', async (t) => {
  let taken: readonly string[] = [];
  await live(stage(), t, {
    name,
    born: { etcd: { quotaBackendBytes: '16Mi' } },
    chapters: [
      {
        what: 'its history fills the quota',
        happens: () => filled(20_000, () => 'again and again'),
        until: (found) => isConverged(found) && actionsOf(found).includes('disarm-alarm'),
        proves: (after, before) => {
          const own = actionsOf(after).slice(actionsOf(before).length);
          const freed = ['defragment-member', 'defragment-member', 'defragment-member'];
          assert.deepEqual(own, ['compact', ...freed, 'disarm-alarm']);
        },
      },
      {
        what: 'its data fill the quota',
        happens: async () => {
          taken = await filled(10_000, (number) => `key ${number}`);
        },
        until: isStalledFor('NoSpace'),
        proves: (after) => {
          assert.match(condition(after, 'Stalled')?.message ?? '', /raise spec\.etcd\.quota/);
          assert.deepEqual(condition(after, 'Available')?.reason, 'NoSpace', 'it takes no writes');
        },
      },
      {
        what: 'a larger quota',
        spec: { etcd: { quotaBackendBytes: '64Mi' } },
        proves: async () => {
          const client = connectTo(await stage().access(name), 5000);
          const found = await client.getAll().prefix('key ').keys();
          client.close();
          assert.ok(taken.length * 20_000 > 8 * 2 ** 20, 'more than half of the first quota');
          assert.deepEqual(
            taken.filter((key) => !found.includes(key)),
            [],
          );
        },
      },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
    ],
  });
});
