import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { hostileAnswers, startHostileMember } from './hostile-member.ts';

/** MiB: enough for gRPC and etcd3, and for nothing that such an answer could become. */
const heap = 48;

for (const [what, { answer, fails }] of Object.entries(hostileAnswers)) {
  test(`a member that answers with ${what} fails its own calls, and nothing else`, async () => {
    await using member = await startHostileMember(answer());
    const child = join(import.meta.dirname, 'hostile-member-child.ts');
    const args = [`--max-old-space-size=${heap}`, child, member.url];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
    const said = JSON.parse(stdout) as readonly string[];
    assert.equal(said.length, 32);
    for (const words of said) assert.match(words, fails);
  });
}
