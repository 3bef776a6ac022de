import assert from 'node:assert/strict';
import { type PathLike, readdirSync } from 'node:fs';
import fs, { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setAside } from '../../../functions/set-aside.ts';
import { setAsideCodes } from '../../../manifests/render/recovery-job.ts';

/** What a power failure, or a full disk, must not take: seen by what is asked of the file system, and when. */

const order = { recovery: '0123456789ab', attempt: 1, withoutCopy: false };
const copy = 'before-recovery-0123456789ab';
const mark = 'recovery-0123456789ab-attempt-1';
let volume = '';
let data = '';

beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'set-aside-'));
  data = join(volume, 'data');
  await mkdir(join(data, 'member'), { recursive: true });
  await writeFile(join(data, 'member/db'), 'what was written');
});

afterEach(async () => {
  mock.restoreAll();
  syncBuiltinESMExports();
  await rm(volume, { recursive: true, force: true });
});

interface Flush {
  readonly path: string;
  /** What the volume had in it then. */
  readonly names: readonly string[];
}

function watchFlushes(): readonly Flush[] {
  const flushes: Flush[] = [];
  const { open } = fs;
  mock.method(fs, 'open', async (path: PathLike, flags?: string) => {
    const handle = await open(path, flags);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      await sync();
      flushes.push({ path: relative(volume, String(path)), names: readdirSync(volume) });
    };
    return handle;
  });
  syncBuiltinESMExports();
  return flushes;
}

test('the mark of the attempt is on the disk before etcd is let go on', async () => {
  const flushes = watchFlushes();
  assert.equal((await setAside({ ...order, data, withoutCopy: true })).code, 0);
  assert.deepEqual(flushes.at(-1)?.path, '');
  assert.ok(flushes.at(-1)?.names.includes(mark));
});

test('the copy is whole on the disk before it has its name, and named before the mark is made', async () => {
  const flushes = watchFlushes();
  assert.equal((await setAside({ ...order, data })).code, 0);
  const partial = flushes.filter(({ names }) => !names.includes(copy)).map(({ path }) => path);
  assert.deepEqual(
    new Set(partial),
    new Set([`${copy}.partial`, `${copy}.partial/member`, `${copy}.partial/member/db`]),
  );
  assert.ok(flushes.some(({ path, names }) => path === '' && names.includes(copy) && !names.includes(mark)));
});

test('no copy is begun where it and what etcd needs to start do not both fit', async () => {
  const reserve = 128 * 1024 * 1024;
  const { statfs } = fs;
  let free = 0;
  mock.method(fs, 'statfs', async (path: PathLike) => ({ ...(await statfs(path)), bsize: 1, bavail: free }));
  syncBuiltinESMExports();
  free = (await takenBy(data)) + reserve - 1;
  const { code, message } = await setAside({ ...order, data });
  assert.equal(code, setAsideCodes.noRoom, message);
  assert.deepEqual(await readdir(volume), ['data']);
  free += 1;
  assert.equal((await setAside({ ...order, data })).code, 0);
});

async function takenBy(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const found = await Promise.all(entries.map((entry) => fs.lstat(join(entry.parentPath, entry.name))));
  return found.reduce((sum, { blocks }) => sum + blocks * 512, 0);
}
