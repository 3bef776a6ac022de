import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import { parseOptions, rooms, UsageError } from '../../run/options.ts';
import { perMinor } from '../../run/per-minor.ts';
import { measuring, select } from '../../run/scenarios.ts';

for (const [args, expected, scenario] of [
  [[], ['unit', 'explore', 'integration', 'e2e'], undefined],
  [['--only', 'unit'], ['unit'], undefined],
  [['--only', 'e2e', 'bootstrap'], ['e2e'], 'bootstrap'],
  [['bootstrap'], ['unit', 'explore', 'integration', 'e2e'], 'bootstrap'],
] as const) {
  test(`"${args.join(' ')}" means ${expected.join(', ')}`, () => {
    assert.deepEqual(parseOptions(args), { rooms: expected, scenario, perMinor: false });
  });
}

test('"--per-minor" keeps the rooms, and can be narrowed to one', () => {
  assert.deepEqual(parseOptions(['--per-minor']), { rooms, scenario: undefined, perMinor: true });
  assert.deepEqual(parseOptions(['--only', 'e2e', '--per-minor']), {
    rooms: ['e2e'],
    scenario: undefined,
    perMinor: true,
  });
});

for (const [args, message] of [
  [['--only', 'smoke'], /--only takes unit, explore, integration, e2e, not "smoke"/],
  [['--only'], /usage: npm test/],
  [['--verbose'], /usage: npm test/],
  [['one', 'two'], /one scenario at a time: one, two are several/],
] as const) {
  test(`"${args.join(' ')}" is refused`, () => {
    assert.throws(() => parseOptions(args), { name: 'UsageError', message });
  });
}

test('a scenario is a file by its name', async () => {
  const [selection, ...others] = await select({ rooms: ['unit'], scenario: 'run-options', perMinor: false });
  assert.deepEqual(others, []);
  assert.deepEqual(selection?.files, [import.meta.filename]);
  assert.equal(selection?.pattern, undefined);
});

test('a scenario is a test by part of its name, in whichever file has it', async () => {
  const [selection] = await select({ rooms: ['unit'], scenario: 'A scenario is a TEST by part', perMinor: false });
  assert.deepEqual(selection?.files, [import.meta.filename]);
  assert.equal(selection?.pattern?.test('a scenario is a test by part of its name'), true);
});

test('a dot in a scenario is a dot', async () => {
  const [selection] = await select({ rooms: ['unit'], scenario: 'a dot in a scenario is a dot', perMinor: false });
  assert.equal(selection?.pattern?.source.includes('\\.'), false);
  // The next line is what the search finds: 3.6.16 (of a scenario)
  const [dotted] = await select({ rooms: ['unit'], scenario: '3.6.16 (of a scenario)', perMinor: false });
  assert.equal(dotted?.pattern?.test('3x6y16 (of a scenario)'), false);
});

test('an unknown scenario lists those there are', async () => {
  // In one piece, it would be found right here.
  const missing = ['no', 'such', 'thing'].join('-');
  await assert.rejects(select({ rooms: ['unit'], scenario: missing, perMinor: false }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, new RegExp(`there is no scenario "${missing}"`));
    assert.match(error.message, /^ {2}run-options$/m);
    return true;
  });
});

test('what holds a gap between writes to a limit runs beside one other, and what waits', async () => {
  const selections = await select({ rooms: ['e2e'], scenario: undefined, perMinor: false });
  const holding = /gap\w*(\.milliseconds)? < /i;
  for (const { files, sideBySide } of selections) {
    for (const file of files) {
      const isHolding = holding.test(await readFile(file, 'utf8'));
      assert.equal(measuring.includes(basename(file, '.test.ts')), isHolding, file);
      if (isHolding) assert.equal(sideBySide, 2, file);
    }
  }
  const [, beside, others, ...more] = selections;
  assert.deepEqual([beside?.isBeside, beside?.files.length, beside?.sideBySide], [true, 3, 2], 'that mostly wait');
  assert.ok(others && others.files.length > measuring.length);
  assert.deepEqual(more, []);
});

test('what runs with each minor of Kubernetes is every file that is named, and nothing else', async () => {
  const selections = await select({ rooms, scenario: undefined, perMinor: true });
  for (const room of ['integration', 'e2e'] as const) {
    const selected = selections.filter((selection) => selection.room === room).flatMap(({ files }) => files);
    const names = selected.map((file) => basename(file, '.test.ts'));
    assert.deepEqual(names.toSorted(), [...perMinor[room]].toSorted(), room);
  }
  assert.equal(selections.filter(({ room }) => room === 'unit' || room === 'explore').length, 0);
});

test('a scenario that does not depend on the minor is unknown among those that do', async () => {
  await assert.rejects(select({ rooms, scenario: 'run-options', perMinor: true }), { name: 'UsageError' });
});
