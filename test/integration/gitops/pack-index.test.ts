import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { indexPack } from '../../../gitops/wire/pack-index.ts';
import { gitEnvironment } from '../../git/git.ts';
import { createRepository, type Repository } from '../../git/repository.ts';

const run = promisify(execFile);

/** Files that grow by a line with each commit: what git stores as long chains of deltas. */
async function setRepository(directory: string): Promise<Repository> {
  const repository = await createRepository(directory);
  const lines = Array.from({ length: 400 }, (_, n) => `line ${n} ${'x'.repeat(n % 60)}`);
  for (let n = 1; n <= 60; n++) {
    const large = lines.slice(0, n * 5).join('\n');
    await repository.commit({ 'a/large.yaml': large, [`b/${n}.yaml`]: `${large}\n${n}\n` }, { keep: true });
  }
  await repository.git('tag', '-a', 'v1', '-m', 'x', 'main');
  return repository;
}

for (const [what, args] of [
  ['deltas on what begins before', ['--delta-base-offset', '--depth=50', '--window=50']],
  ['deltas on names', ['--depth=50', '--window=50']],
  ['chains as long as git makes them', ['--depth=4095', '--window=200']],
  ['no deltas', ['--window=0']],
] as const) {
  test(`every object that system git packs is found, with its type: ${what}`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-packs-'));
    try {
      const repository = await setRepository(join(directory, 'r.git'));
      const name = await repository.git('rev-parse', '--all');
      assert.ok(name);
      const { stdout } = await run(
        'sh',
        [
          '-c',
          `git rev-list --all --objects | cut -d" " -f1 | git pack-objects -q --no-reuse-delta ${args.join(' ')} ${join(directory, 'p')}`,
        ],
        {
          cwd: repository.directory,
          env: gitEnvironment(),
        },
      );
      const pack = await readFile(join(directory, `p-${stdout.trim()}.pack`));
      const listed = await repository.git(
        'cat-file',
        '--batch-all-objects',
        '--batch-check=%(objectname) %(objecttype) %(objectsize)',
      );
      const index = await indexPack(pack);
      const expected = listed.split('\n').filter((line) => !line.includes(' tag '));
      assert.ok(expected.length > 200);
      for (const line of expected) {
        const [oid = '', type, size] = line.split(' ');
        const found = index.read(oid);
        assert.deepEqual([found?.type, String(found?.data.length)], [type, size], oid);
      }
      assert.equal(index.read('0'.repeat(40)), undefined);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
}
