import assert from 'node:assert/strict';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { failedAfter, writeTimes } from '../../run/notes.ts';

const passed = (file: string) => ({ file, passed: true });
const failed = (file: string) => ({ file, passed: false });

test('what failed is noted until it passes, and what a run left out stays', () => {
  assert.deepEqual(failedAfter([], [passed('a'), failed('b')]), ['b']);
  assert.deepEqual(failedAfter(['b'], [passed('a')]), ['b']);
  assert.deepEqual(failedAfter(['b', 'c'], [passed('b'), failed('a')]), ['a', 'c']);
  assert.deepEqual(failedAfter(['b'], [failed('b')]), ['b']);
});

test('times of a run are written beside those of files that it did not run', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'times-test-'));
  const path = join(directory.path, 'times.json');
  writeTimes(path, {
    rooms: { unit: 1 },
    files: { b: { seconds: 1, processors: 2 }, a: { seconds: 3, processors: 4 } },
  });
  writeTimes(path, { rooms: { e2e: 5 }, files: { b: { seconds: 6, processors: 7 } } });
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
    rooms: { unit: 1, e2e: 5 },
    files: { a: { seconds: 3, processors: 4 }, b: { seconds: 6, processors: 7 } },
  });
});
