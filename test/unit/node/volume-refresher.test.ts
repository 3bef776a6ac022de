import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createVolumeRefresher } from '../../support/cluster/node/volume-refresher.ts';

const never = (error: unknown) => assert.fail(String(error));

/** An object, and files that are written a moment after it was read. */
function files() {
  let [object, written, busy] = ['one', 'one', 0];
  const reads: PromiseWithResolvers<void>[] = [];
  return {
    written: () => written,
    reads,
    change: (word: string) => {
      object = word;
    },
    refresh: async () => {
      assert.equal(++busy, 1, 'never two at once');
      const read = object;
      const gate = Promise.withResolvers<void>();
      reads.push(gate);
      await gate.promise;
      written = read;
      busy -= 1;
    },
  };
}

test('what changes while files are being written is written after them', async () => {
  const { change, refresh, reads, written } = files();
  const refresher = createVolumeRefresher(refresh, never);
  refresher.open();
  change('two');
  refresher.ask();
  change('three');
  refresher.ask();
  refresher.ask();
  reads[0]?.resolve();
  await turn();
  assert.equal(written(), 'two');
  reads[1]?.resolve();
  await turn();
  assert.equal(written(), 'three');
  assert.equal(reads.length, 2, 'what was asked twice meanwhile is done once');
});

test('what changes before the first files are all written is written once they are', async () => {
  const { change, refresh, reads, written } = files();
  const refresher = createVolumeRefresher(refresh, never);
  change('two');
  refresher.ask();
  await turn();
  assert.equal(reads.length, 0);
  refresher.open();
  reads[0]?.resolve();
  await turn();
  assert.equal(written(), 'two');
  refresher.open();
  assert.equal(reads.length, 1, 'nothing has changed since');
});

test('a refresh that fails is told, and the next one is not held up', async () => {
  const told: unknown[] = [];
  let attempts = 0;
  const refresher = createVolumeRefresher(
    async () => {
      if (++attempts === 1) throw new Error('no answer');
    },
    (error) => told.push(String(error)),
  );
  refresher.open();
  refresher.ask();
  await turn();
  refresher.ask();
  await turn();
  assert.deepEqual([attempts, told], [2, ['Error: no answer']]);
});
