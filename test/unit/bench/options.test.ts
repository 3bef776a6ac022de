import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benches, parseBenchOptions, storeNames, usage } from '../../bench/options.ts';

test('a bench is asked for by its name, and the usage names all of them', () => {
  for (const [name, text] of Object.entries(benches)) {
    assert.equal(parseBenchOptions([name]).bench, name);
    assert.ok(usage.includes(`${name.padEnd(10)}${text}`));
  }
  assert.equal(parseBenchOptions([]).bench, undefined);
  assert.equal(parseBenchOptions(['-h']).help, true);
});

test('a bench of backups takes sizes and stores', () => {
  const { mebibytes, stores, once } = parseBenchOptions(['backup', '--once', '--size', '2GiB', '--store', 's3']);
  assert.deepEqual({ mebibytes, stores, once }, { mebibytes: 2048, stores: ['s3'], once: true });
  assert.equal(parseBenchOptions(['backup']).stores, storeNames);
});

test('what a bench does not know is refused before anything starts', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['everything'], /no bench "everything"[\s\S]*usage: npm run bench/],
    [['constructor'], /no bench "constructor"/],
    [['tls', 'git'], /one bench at a time: tls, git/],
    [['--fast'], /'--fast'[\s\S]*usage: npm run bench/],
    [['tls', '--once'], /--once is an option of backup/],
    [['backup', '--size', '0MiB'], /--size takes a size like 2GiB or 512MiB, not "0MiB"/],
    [['backup', '--size', '1e9GiB'], /not "1e9GiB"/],
    [['backup', '--store', 'tape'], /--store takes directory, s3, gcs, not "tape"/],
  ];
  for (const [args, message] of cases) assert.throws(() => parseBenchOptions(args), { name: 'UsageError', message });
});
