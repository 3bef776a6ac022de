import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { untar } from '../../support/page/browser.ts';

test('an archive that goes on with empty blocks after its end is unpacked all the same', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-untar-'));
  const { path } = directory;
  await writeFile(join(path, 'a'), 'text');
  const { stdout } = await promisify(execFile)('tar', ['-c', '-C', path, 'a'], { encoding: 'buffer' });
  const archive = join(path, 'a.tar.br');
  await writeFile(archive, brotliCompressSync(Buffer.concat([stdout, Buffer.alloc(8 * 1024 * 1024)])));
  await untar(archive, join(path, 'into'));
  assert.equal(await readFile(join(path, 'into/a'), 'utf8'), 'text');
});
