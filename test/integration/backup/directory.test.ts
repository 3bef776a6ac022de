/** A directory as a store, on a real file system. */

import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openDirectory } from '../../../reconcile/backup/stores/pvc/directory.ts';
import { temporary } from './members.ts';
import { pruneContract } from './prune-contract.ts';
import { limited, listed, pieces, reasonOf, storeContract } from './store-contract.ts';

describe('a directory', async () => {
  const place = await temporary();
  after(() => place[Symbol.asyncDispose]());
  storeContract(() => openDirectory(place.path, 'pvc://backups'));
  pruneContract(() => openDirectory(place.path, 'pvc://backups'));

  test('what a killed upload left is no object, and goes after a day', async () => {
    await using own = await temporary();
    const store = openDirectory(own.path, 'pvc://backups');
    await writeFile(join(own.path, 'a.db.partial-1234abcd'), 'torn');
    await writeFile(join(own.path, 'b.db.partial-1234abcd'), 'torn long ago');
    await utimes(join(own.path, 'b.db.partial-1234abcd'), 1, 1);
    assert.deepEqual(await listed(store, ''), []);
    await store.put('a.db', pieces(Buffer.from('whole')), limited());
    assert.deepEqual((await readdir(own.path)).toSorted(), ['a.db', 'a.db.partial-1234abcd']);
  });

  test('a volume that is full or a path through a file is told with its cure', async () => {
    await using own = await temporary();
    const store = openDirectory(own.path, 'pvc://backups');
    await writeFile(join(own.path, 'file'), '');
    assert.equal(await reasonOf(store.put('file/a.db', pieces(Buffer.from('x')), limited())), 'StoreRefused');
    const full = async function* () {
      yield Buffer.from('x');
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    assert.equal(await reasonOf(store.put('b.db', full(), limited())), 'Full');
    assert.deepEqual(await readdir(own.path), ['file']);
  });
});
