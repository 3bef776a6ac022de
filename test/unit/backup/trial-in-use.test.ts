import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { restorePaths } from '../../../manifests/render/restore-paths.ts';
import { placeStaged } from '../../../reconcile/backup/agent/staged-restore.ts';

test('restored data are placed, and the copy goes, while the etcd of a trial makes files in it', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-in-use-'));
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const dataDirectory = join(directory.path, `${attempt}`, 'data');
    const { data, trial, directory: own } = restorePaths(dataDirectory, attempt);
    const busy = join(trial.data, 'member/wal');
    await Promise.all([mkdir(join(data, 'member'), { recursive: true }), mkdir(busy, { recursive: true })]);
    await writeFile(join(own, 'staged.json'), JSON.stringify({ staged: {}, begins: 1 }));
    const script = `i=0; while [ $i -lt 3000 ] && echo x > "$0/$i"; do i=$((i+1)); done`;
    const etcd = spawn('sh', ['-c', script, busy], { stdio: 'ignore' });
    // It may end before it is seen to be busy.
    const ended = once(etcd, 'close');
    while ((await readdir(busy)).length < 50 && etcd.exitCode === null);
    await placeStaged({ dataDirectory, restorer: { id: 'a', attempt } });
    await ended;
    assert.deepEqual((await readdir(dirname(dataDirectory))).toSorted(), ['.restored-data.json', 'data']);
  }
});
