import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { indexPack } from '../../../gitops/git/wire/pack-index.ts';
import { git } from '../../support/git/git.ts';
import { createRepository, type Repository } from '../../support/git/repository.ts';

const packings = [
  ['deltas on what begins before', ['--delta-base-offset', '--depth=50', '--window=50']],
  ['deltas on names', ['--depth=50', '--window=50']],
  ['chains as long as git makes them', ['--depth=4095', '--window=200']],
  ['no deltas', ['--window=0']],
] as const;

test("the index of a pack is git's own, byte for byte, whatever its deltas are like", async () => {
  await inRepository(async (repository, directory) => {
    // Files that grow by a line with each commit: what git stores as long chains of deltas.
    const lines = Array.from({ length: 400 }, (_, n) => `line ${n} ${'x'.repeat(n % 60)}`);
    for (let n = 1; n <= 20; n++) {
      const large = lines.slice(0, n * 15).join('\n');
      const files = Array.from({ length: 5 }, (_, file) => [`b/${n}-${file}.yaml`, `${large}\n${n} ${file}\n`]);
      await repository.commit({ 'a/large.yaml': large, ...Object.fromEntries(files) }, { keep: true });
    }
    await repository.git('tag', '-a', 'v1', '-m', 'x', 'main');
    for (const [what, args] of packings) {
      const indexed = await assertIndexed(repository, join(directory, what.replaceAll(' ', '-')), args);
      assert.ok(indexed > 150, `${indexed} objects`);
    }
  });
});

test("the index of any pack is git's own, byte for byte", async () => {
  await inRepository(async (repository, directory) => {
    const text = fc.array(fc.constantFrom('a: 1\n', 'b: 2\n', '- c\n', 'x'.repeat(200)), { maxLength: 100 });
    const content = fc.oneof(
      text.map((lines) => lines.join('')),
      fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes)),
    );
    const commits = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'c/e/f'), content), {
      minLength: 1,
      maxLength: 4,
    });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(commits, fc.constantFrom(...packings), async (files, [, args]) => {
        for (const one of files) await repository.commit(one, { keep: true });
        await assertIndexed(repository, join(directory, `p${runs++}`), args);
      }),
      { numRuns: 8 },
    );
  });
});

test('the index of an empty pack is git’s own, too', async () => {
  await inRepository(async (repository, directory) => {
    assert.equal(await assertIndexed(repository, join(directory, 'p'), ['--window=0']), 0);
  });
});

async function inRepository(run: (repository: Repository, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-packs-'));
  try {
    await run(await createRepository(join(directory, 'r.git')), directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @returns how many objects it has */
async function assertIndexed(repository: Repository, name: string, args: readonly string[]): Promise<number> {
  const listed = await repository.git('rev-list', '--all', '--objects', '--no-object-names');
  const packed = ['pack-objects', '-q', '--no-reuse-delta', ...args, name];
  const sum = await git(repository.directory, packed, Buffer.from(listed === '' ? '' : `${listed}\n`));
  const pack = await readFile(`${name}-${sum.trim()}.pack`);
  const theirs = await readFile(`${name}-${sum.trim()}.idx`);
  const { index: ours } = await indexPack(pack);
  assert.ok(ours.equals(theirs), `${ours.length} bytes, git's has ${theirs.length}`);
  return pack.readUInt32BE(8);
}
