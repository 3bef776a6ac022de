import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { parseOptions } from '../../run/options.ts';
import { partOf, partVariable, turn } from '../../run/part.ts';
import { integration, isInRing1, isResting, livesOf } from '../../run/rings.ts';
import { select, slices } from '../../run/scenarios.ts';
import { held, shares } from '../../run/shares.ts';
import { sliceOf, sliceSeconds, slicesOf } from '../../run/slices.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const rest = ['integration', 'e2e'].flatMap((room) =>
  globSync(`test/${room}/**/*.test.ts`, { cwd: checkout }).map((file) => join(checkout, file)),
);

const anyFiles = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 80 });
const anySeconds = fc.record({
  seconds: fc.double({ min: 0, max: 900, noNaN: true }),
  processors: fc.double({ min: 0, max: 600, noNaN: true }),
});

test('as many landings as there are slices run every file once, whatever the files are', () => {
  fc.assert(
    fc.property(anyFiles, fc.array(fc.option(anySeconds)), fc.nat(), (files, seconds, first) => {
      const all = slicesOf(files, (file) => seconds[files.indexOf(file)] ?? undefined);
      const landings = all.map((_, index) => sliceOf(all, first + index));
      assert.deepEqual(landings.flat().toSorted(), files.toSorted());
    }),
  );
});

test('a slice takes 15 minutes at most, or one file more', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 60 }), (seconds) => {
      const files = seconds.map((_, index) => `${index}`);
      const cost = (file: string) => (seconds[Number(file)] ?? 0) / 4;
      const all = slicesOf(files, (file) => ({ seconds: seconds[Number(file)] ?? 0, processors: 0 }));
      for (const slice of all) {
        const longest = Math.max(...slice.map(cost));
        assert.ok(slice.reduce((sum, file) => sum + cost(file), 0) <= sliceSeconds + longest);
      }
    }),
  );
});

test('ring 1 and the slices run every test file there is', async () => {
  const { length } = slices();
  const sliced = await Promise.all(slices().map((_, n) => filesOf(['--slice', `${n}`])));
  const all = await filesOf(['--all']);
  assert.deepEqual([...all.filter(isInRing1), ...sliced.flat()].toSorted(), all.toSorted());
  const now = await filesOf([]);
  const lives = livesOf(turn() ?? 0);
  for (const file of all.filter(isInRing1)) {
    const name = basename(file, '.test.ts');
    assert.equal(now.includes(file), !name.startsWith('life-') || lives.includes(name), name);
  }
  assert.deepEqual(await filesOf(['--slice', `${length}`]), await filesOf(['--slice', '0']), 'it goes round');
});

test('ring 1 has a file of each folder of integration, and none that is not there', () => {
  const folders = readdirSync(join(checkout, 'test/integration'), { withFileTypes: true });
  assert.deepEqual(
    Object.keys(integration).toSorted(),
    folders
      .filter((one) => one.isDirectory())
      .map(({ name }) => name)
      .toSorted(),
  );
  for (const [folder, names] of Object.entries(integration)) {
    assert.ok(names.length > 0, folder);
    for (const name of names) {
      const [file = '', ...more] = globSync(`test/integration/${folder}/**/${name}.test.ts`, { cwd: checkout });
      assert.ok(file && more.length === 0 && isInRing1(join(checkout, file)), `${folder}/${name}`);
    }
  }
});

test('long lives are told by turns, three at a time, and no other story waits', () => {
  const lives = rest.map((file) => basename(file, '.test.ts')).filter((name) => name.startsWith('life-'));
  const told = lives.flatMap((_, turn) => livesOf(turn));
  assert.deepEqual([...new Set(told)].toSorted(), lives.toSorted());
  for (const name of lives) assert.equal(told.filter((one) => one === name).length, 3, name);
});

test('the workflow runs every test file there is: all turns of ring 1, and all slices', async () => {
  const { jobs } = parse(readFileSync(join(checkout, '.github/workflows/ci.yml'), 'utf8')) as Workflow;
  const { turn: turns = [] } = jobs.test?.strategy?.matrix ?? {};
  const { slice: taken = [] } = jobs.rest?.strategy?.matrix ?? {};
  const all = await filesOf(['--all']);
  const ring1 = all.filter((file) => isInRing1(file) && turns.some((turn) => !isResting(file, turn)));
  const sliced = await Promise.all(taken.map((n) => filesOf(['--slice', `${n}`])));
  assert.deepEqual([...ring1, ...sliced.flat()].toSorted(), all.toSorted());
  assert.deepEqual([...turns], [0, 1, 2], 'long enumerations go round by thirds');
});

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly strategy?: { readonly matrix?: Matrix } }>>;
}

interface Matrix {
  readonly turn?: readonly number[];
  readonly slice?: readonly number[];
}

test('shares add up to 1,500 s, and one that is exceeded by more than a fifth is told', () => {
  assert.equal(
    shares.reduce((sum, { seconds }) => sum + seconds, 0),
    1500,
  );
  const exceeded = (integration: number, pace: number) =>
    held({ integration }, () => pace).filter(({ isExceeded }) => isExceeded).length;
  assert.equal(exceeded(540, 1), 0);
  assert.equal(exceeded(541, 1), 1);
  assert.equal(exceeded(541, 0.5), 1, 'a faster machine has room, and needs none');
  assert.equal(exceeded(1080, 2), 0);
  assert.equal(exceeded(1083, 2), 1);
  const [both] = held({ unit: 400, explore: 141 }, () => 1);
  assert.match(both?.line ?? '', /^unit tests and search +541 s of processors, share 450 s: exceeded/);
  const [slow] = held({ unit: 900 }, () => 2);
  assert.match(slow?.line ?? '', /900 s of processors on a machine that is 2.0 times slower: 450 s, share 450 s$/);
});

test('three turns take a long enumeration once, and without a turn nothing is left out', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.nat(), (all, first) => {
      const taken = [0, 1, 2].flatMap((later) => partOf(all, first + later));
      assert.deepEqual(taken.toSorted(), all.toSorted());
    }),
  );
  if (turn() === undefined) assert.deepEqual(partOf([1, 2, 3, 4]), [1, 2, 3, 4]);
  assert.throws(() => turn('half'), new RegExp(partVariable));
});

test('every file that failed in the last runs is there', () => {
  const failed: unknown = JSON.parse(readFileSync(join(checkout, 'test/run/failed.json'), 'utf8'));
  assert.ok(Array.isArray(failed));
  for (const file of failed) assert.ok(existsSync(join(checkout, String(file))), String(file));
});

async function filesOf(args: readonly string[]): Promise<readonly string[]> {
  const selections = await select(parseOptions(args), []);
  // Against another server than git's own, a file runs again.
  return selections.filter(({ gitServer }) => gitServer === undefined).flatMap(({ files }) => files);
}
