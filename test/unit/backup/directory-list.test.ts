/** The list of a volume: its order, what it reads when, and how much of it is kept at a time. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { openDirectory } from '../../../reconcile/backup/stores/pvc/directory.ts';
import { filesBelow } from '../../../reconcile/backup/stores/pvc/walk.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

const signal = new AbortController().signal;
const place = 'pvc://backups';

async function volume(names: readonly string[]) {
  const root = await mkdtemp(join(tmpdir(), 'ratchet-list-'));
  for (const name of names) await addFile(root, name);
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}

async function addFile(root: string, name: string): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), name);
}

/** Where a directory stands between files is easily wrong. */
const tricky = ['a-b', 'a.db', 'a/b.db', 'a/b/c.db', 'a b', 'ab', 'a0', 'é/1', 'é.db', 'z/💾.db', 'z/y/x/w.db'];

test('a volume is listed in the order of whole names, by every prefix of them', async () => {
  await using there = await volume(tricky);
  await symlink('/etc', join(there.root, 'elsewhere'));
  const store = openDirectory(there.root, place);
  const prefixes = new Set(tricky.flatMap((name) => Array.from(name, (_, at) => name.slice(0, at))));
  for (const prefix of [...prefixes, 'none', 'a/none/at/all']) {
    const listed = await Array.fromAsync(store.list(prefix, { signal }), ({ name }) => name);
    assert.deepEqual(listed, tricky.filter((name) => name.startsWith(prefix)).toSorted(), prefix);
  }
});

test('a directory of a volume is read when its turn comes, not before', async () => {
  await using there = await volume(['a/1', 'b/1']);
  const seen: string[] = [];
  for await (const name of filesBelow({ root: there.root, prefix: '', place, signal })) {
    if (seen.length === 0) await addFile(there.root, 'b/0');
    seen.push(name);
  }
  assert.deepEqual(seen, ['a/1', 'b/0', 'b/1']);
});

test('of a volume no more names are kept than the bound says, whatever lies beside the prefix', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `many/${index}`);
  await using there = await volume([...names, 'deep/1/2/3', 'few/1']);
  const ask = (prefix: string, most: number) =>
    Array.fromAsync(filesBelow({ root: there.root, prefix, place, signal, most }));
  assert.deepEqual(await ask('few/', 1), ['few/1']);
  assert.equal((await ask('many/', 20)).length, 20);
  assert.deepEqual(await ask('deep/', 3), ['deep/1/2/3']);
  for (const [prefix, most] of [
    ['many/', 19],
    ['deep/', 2],
  ] as const)
    await assert.rejects(ask(prefix, most), (error) => error instanceof BackupFailure && error.reason === 'TooMany');
});
