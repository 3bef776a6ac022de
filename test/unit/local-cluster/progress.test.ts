import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showProgress } from '../../support/cluster/binaries/progress.ts';

async function shown(isTTY: boolean, work: () => Promise<void>): Promise<string> {
  const written: string[] = [];
  const progress = showProgress({ isTTY, write: (text) => written.push(text) });
  await progress.during('building etcd', () => 17, work).catch(() => {});
  return written.join('');
}

test('elsewhere than on a terminal, progress is plain lines', async () => {
  const text = await shown(false, async () => {});
  assert.equal(text, 'building etcd … 0:00, about 0:17 left in all\nbuilding etcd: done in 0:00\n');
});

test('on a terminal, the line is live: it is erased before it is written again', async () => {
  const text = await shown(true, async () => {});
  const erase = '\r\u001b[2K';
  assert.ok(text.startsWith(`${erase}building etcd … 0:00`));
  assert.ok(text.endsWith(`${erase}building etcd: done in 0:00\n`));
  assert.equal(text.split('\n').length, 2);
});

test('what failed is called failed', async () => {
  assert.match(
    await shown(false, async () => {
      throw new Error('no');
    }),
    /building etcd: failed after 0:00\n$/,
  );
});
