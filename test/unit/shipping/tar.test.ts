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

test('tar unpacks what was packed: contents, modes, long paths, an empty file', () => {
  const sizes = [0, 1, 511, 512, 513, 70_000];
  const entries = sizes.map((size) => ({ path: `a/${size}`, content: Buffer.alloc(size, 'x') }));
  const more = [{ path: 'bin/run', content: Buffer.from('#!'), mode: 0o755 }, { path: 'empty/' }];
  const archive = tarOf([...entries, ...more, { path: long, content: Buffer.from('long') }]);
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
  const before = tarOf(await entriesBelow(directory, 'x/'));
  rmSync(join(directory, 'b/one'));
  writeFileSync(join(directory, 'b/one'), '1', { mode: 0o600 });
  assert.deepEqual(tarOf((await entriesBelow(directory, 'x/')).toReversed()), before);
});

test('what the format can’t hold is refused', () => {
  const content = Buffer.alloc(0);
  assert.throws(() => tarOf([{ path: 'x'.repeat(101), content }]), /too long for a tar archive/);
  assert.throws(() => tarOf([{ path: `${'x'.repeat(156)}/y`, content }]), /too long/);
  const same = { path: 'x', content };
  assert.throws(() => tarOf([same, same]), /x is in the archive twice/);
});
