import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { entriesBelow, tarOf } from '../../../functions/shipping/tar.ts';

const scratch = mkdtempSync(join(tmpdir(), 'tar-'));
after(() => rmSync(scratch, { recursive: true }));

const long = `${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(90)}`;

test('tar unpacks what was packed: contents, modes, long paths, an empty file', async () => {
  const sizes = [0, 1, 511, 512, 513, 70_000];
  const entries = sizes.map((size) => ({ path: `a/${size}`, content: Buffer.alloc(size, 'x') }));
  const more = [{ path: 'bin/run', content: Buffer.from('#!'), mode: 0o755 }, { path: 'empty/' }];
  const archive = await tarOf([...entries, ...more, { path: long, content: Buffer.from('long') }]);
  execFileSync('tar', ['-xf', '-', '-C', scratch], { input: archive });
  for (const { path, content } of entries) assert.deepEqual(readFileSync(join(scratch, path)), content, path);
  assert.equal(statSync(join(scratch, 'bin/run')).mode & 0o777, 0o755);
  assert.ok(statSync(join(scratch, 'empty')).isDirectory());
  assert.equal(readFileSync(join(scratch, long), 'utf8'), 'long');
  const listed = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8', env: { TZ: 'UTC' } });
  for (const line of listed.trim().split('\n')) assert.match(line, / root\/root | 0\/0 /);
});

test('the same entries give the same bytes, in whatever order and at whatever time', async () => {
  const directory = join(scratch, 'tree');
  for (const name of ['b', 'a']) mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, 'b/one'), '1');
  const before = await tarOf(await entriesBelow(directory, 'x/'));
  rmSync(join(directory, 'b/one'));
  writeFileSync(join(directory, 'b/one'), '1', { mode: 0o600 });
  assert.deepEqual(await tarOf((await entriesBelow(directory, 'x/')).toReversed()), before);
});

test('a path that is there twice is refused', async () => {
  const same = { path: 'x', content: Buffer.alloc(0) };
  await assert.rejects(tarOf([same, same]), /x is in the archive twice/);
});
