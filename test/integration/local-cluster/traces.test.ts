import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNoTrace, mounts, startCluster } from './run.ts';

for (const [signal, code] of [
  ['SIGTERM', 0],
  ['SIGINT', 0],
  ['SIGKILL', 'SIGKILL'],
] as const) {
  test(`a cluster whose run gets ${signal} leaves no process, mount or file`, async () => {
    const before = await mounts();
    await using cluster = await startCluster();
    assert.ok((await cluster.processes()).length >= 6, 'the run, its sandbox and four daemons');
    cluster.child.kill(signal);
    assert.equal(await cluster.ended, code);
    await assertNoTrace(cluster, before);
  });
}

test('a cluster whose insides are killed ends the run, and leaves no process, mount or file', async () => {
  const before = await mounts();
  await using cluster = await startCluster();
  for (const pid of await cluster.processes()) {
    if (pid !== cluster.child.pid) killIfThere(pid);
  }
  assert.notEqual(await cluster.ended, 0);
  await assertNoTrace(cluster, before);
});

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // The ones before it may have taken it with them.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
