import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { writePayload } from '../../support/cluster/node/atomic-writer.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'payload-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function payload(files: Record<string, string>, mode = 0o644) {
  return new Map(Object.entries(files).map(([path, text]) => [path, { content: Buffer.from(text), mode }]));
}

const visible = () => readdirSync(directory).filter((name) => !name.startsWith('..'));

test('files are shown through one link, also those in directories', async () => {
  await writePayload(directory, payload({ a: '1', 'deep/b': '2' }));
  assert.deepEqual(visible().sort(), ['a', 'deep']);
  assert.equal(readlinkSync(join(directory, 'a')), '..data/a');
  assert.equal(readFileSync(join(directory, 'deep/b'), 'utf8'), '2');
});

test('a new set replaces the old one whole, and leaves nothing of it', async () => {
  await writePayload(directory, payload({ a: '1', old: 'x' }));
  await writePayload(directory, payload({ a: '2', new: 'y' }));
  assert.deepEqual(visible().sort(), ['a', 'new']);
  assert.equal(readFileSync(join(directory, 'a'), 'utf8'), '2');
  assert.equal(readdirSync(directory).length, 4, 'two names, ..data and one directory');
});

test('an equal set changes nothing, so that no watcher wakes', async () => {
  await writePayload(directory, payload({ a: '1' }));
  const before = readlinkSync(join(directory, '..data'));
  await writePayload(directory, payload({ a: '1' }));
  assert.equal(readlinkSync(join(directory, '..data')), before);
});

test('an empty set is an empty directory', async () => {
  await writePayload(directory, payload({ a: '1' }));
  await writePayload(directory, payload({}));
  assert.deepEqual(visible(), []);
});

test('a mode is the mode of the file', async () => {
  await writePayload(directory, payload({ secret: '1' }, 0o400));
  assert.equal(lstatSync(join(directory, '..data/secret')).mode & 0o777, 0o400);
});
