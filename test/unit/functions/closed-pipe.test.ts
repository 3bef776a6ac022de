import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

for (const program of ['tick', 'plugin'])
  test(`${program} --help ends quietly where its reader has closed the pipe`, async () => {
    const path = join(import.meta.dirname, `../../../functions/${program}.ts`);
    const script = `const { main } = await import(${JSON.stringify(path)}); process.exitCode = await main(['--help']);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.deepEqual([said, code], ['', 0]);
  });
