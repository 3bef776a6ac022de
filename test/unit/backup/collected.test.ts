import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collected } from '../../../reconcile/backup/agent/collected.ts';

const MiB = 1024 ** 2;

/** So many MiB, each of which leaves so much behind, beside what is needed all the time. How often and how full. */
async function run(mebibytes: number, { left, needed }: { readonly left: number; readonly needed: number }) {
  let buffers = needed;
  let highest = 0;
  let collections = 0;
  const collect = () => {
    collections += 1;
    buffers = needed;
  };
  async function* chunks() {
    for (let sent = 0; sent < mebibytes; sent++) {
      buffers += left;
      highest = Math.max(highest, buffers);
      yield new Uint8Array(MiB);
    }
  }
  let bytes = 0;
  for await (const chunk of collected(chunks(), { buffers: () => buffers, collect })) bytes += chunk.length;
  assert.equal(bytes, mebibytes * MiB);
  return { collections, highest: highest / MiB };
}

test('buffers that pile up are collected, however much is passed on', async () => {
  const { highest, collections } = await run(200, { left: MiB, needed: 8 * MiB });
  assert.ok(highest <= 26, `${highest} MiB`);
  assert.ok(collections <= 20, `${collections} collections`);
});

test('a store that needs many buffers does not have the collector come all the time', async () => {
  const { collections } = await run(200, { left: MiB / 16, needed: 40 * MiB });
  assert.ok(collections <= 2, `${collections} collections`);
});

test('where Node shows no collector, bytes are passed on as they are', async () => {
  async function* chunks() {
    yield new Uint8Array(9 * MiB);
    yield new Uint8Array(1);
  }
  const passed = await Array.fromAsync(collected(chunks(), { buffers: () => 1e12, collect: undefined }));
  assert.deepEqual(
    passed.map(({ length }) => length),
    [9 * MiB, 1],
  );
});
