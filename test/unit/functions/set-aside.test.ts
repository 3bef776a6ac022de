import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setAside } from '../../../functions/set-aside.ts';
import { setAsideCodes } from '../../../manifests/render/recovery-job.ts';

async function withVolume(use: (volume: string, data: string) => Promise<void>, files = true): Promise<void> {
  const volume = await mkdtemp(join(tmpdir(), 'set-aside-'));
  const data = join(volume, 'data');
  try {
    await mkdir(join(data, ...(files ? ['member', 'snap'] : [])), { recursive: true });
    if (files) await writeFile(join(data, 'member/snap/db'), 'what was written');
    await use(volume, data);
  } finally {
    await rm(volume, { recursive: true, force: true });
  }
}

const order = { recovery: '0123456789ab', attempt: 1, withoutCopy: false };
const copied = (volume: string) => readFile(join(volume, 'before-recovery-0123456789ab/member/snap/db'), 'utf8');

test('the data are copied beside themselves, and the attempt is marked', async () => {
  await withVolume(async (volume, data) => {
    assert.equal((await setAside({ ...order, data })).code, 0);
    assert.equal(await copied(volume), 'what was written');
    assert.deepEqual((await readdir(volume)).toSorted(), [
      'before-recovery-0123456789ab',
      'data',
      'recovery-0123456789ab-attempt-1',
    ]);
  });
});

test('an attempt that has run, or a lower one, is refused; the next keeps the first copy', async () => {
  await withVolume(async (volume, data) => {
    await setAside({ ...order, data, attempt: 2 });
    for (const attempt of [1, 2]) {
      const { code, message } = await setAside({ ...order, data, attempt });
      assert.equal(code, setAsideCodes.ranAlready);
      assert.match(message, /comes too late/);
    }
    await writeFile(join(data, 'member/snap/db'), 'what etcd made of it');
    assert.equal((await setAside({ ...order, data, attempt: 10 })).code, 0);
    assert.equal(
      (await setAside({ ...order, data, attempt: 9 })).code,
      setAsideCodes.ranAlready,
      'compared as numbers',
    );
    assert.equal(await copied(volume), 'what was written');
    assert.equal((await setAside({ ...order, data, recovery: 'ba9876543210' })).code, 0, 'of another recovery');
  });
});

test('what an attempt at a new life has left goes first: it takes the room that etcd needs', async () => {
  await withVolume(async (volume, data) => {
    await mkdir(join(volume, '.restoring-1/trial/data'), { recursive: true });
    assert.equal((await setAside({ ...order, data, attempt: 2, withoutCopy: true })).code, 0);
    assert.deepEqual((await readdir(volume)).toSorted(), ['data', 'recovery-0123456789ab-attempt-2']);
  });
});

test('of two at once one goes through', async () => {
  await withVolume(async (_, data) => {
    const both = await Promise.allSettled([1, 2].map(() => setAside({ ...order, data, withoutCopy: true })));
    const through = both.filter((one) => one.status === 'fulfilled' && one.value.code === 0);
    assert.equal(through.length, 1);
  });
});

test('a copy that another attempt did not finish is deleted', async () => {
  await withVolume(async (volume, data) => {
    await mkdir(join(volume, 'before-recovery-0123456789ab.partial/member'), { recursive: true });
    assert.equal((await setAside({ ...order, data })).code, 0);
    assert.equal(await copied(volume), 'what was written');
    assert.ok(!(await readdir(volume)).some((name) => name.endsWith('.partial')));
  });
});

test('a volume without a member is refused, and left as it is', async () => {
  await withVolume(async (volume, data) => {
    assert.equal((await setAside({ ...order, data })).code, setAsideCodes.noData);
    assert.deepEqual(await readdir(volume), ['data']);
  }, false);
});

test('without a copy it is only marked', async () => {
  await withVolume(async (volume, data) => {
    assert.equal((await setAside({ ...order, data, withoutCopy: true })).code, 0);
    assert.ok(!(await readdir(volume)).includes('before-recovery-0123456789ab'));
  });
});
