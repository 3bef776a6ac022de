import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { parseOptions, rooms, UsageError } from '../../run/options.ts';
import { perMinor } from '../../run/per-minor.ts';
import { comparing, measuring, select } from '../../run/scenarios.ts';

for (const [args, expected, scenario, extent] of [
  [[], rooms, undefined, 'ring1'],
  [['--all'], rooms, undefined, 'all'],
  [['--slice', '865'], rooms, undefined, { slice: 865 }],
  [['--only', 'unit'], ['unit'], undefined, 'all'],
  [['--only', 'e2e', 'bootstrap'], ['e2e'], 'bootstrap', 'all'],
  [['bootstrap'], rooms, 'bootstrap', 'all'],
  [['--per-minor'], rooms, undefined, 'perMinor'],
  [['--only', 'e2e', '--per-minor'], ['e2e'], undefined, 'perMinor'],
  [['--only', 'e2e', '--real-node'], ['e2e'], undefined, 'realNode'],
  [['--only', 'e2e', '--real-node', 'restore'], ['e2e'], 'restore', 'realNode'],
  [['--only', 'e2e', '--consumers'], ['e2e'], undefined, 'consumers'],
  [['--only', 'e2e', '--consumers', 'patroni'], ['e2e'], 'patroni', 'consumers'],
] as const) {
  test(`"${args.join(' ')}" means ${JSON.stringify(extent)} of ${expected.join(', ')}`, () => {
    const every = args.some((arg) => arg === '--all') && { everyGitServer: true };
    assert.deepEqual(parseOptions(args), { rooms: expected, scenario, extent, ...every, json: undefined });
  });
}

for (const [args, message] of [
  [['--only', 'smoke'], /--only takes unit, explore, integration, e2e, not "smoke"/],
  [['--only'], /usage: npm test/],
  [['--verbose'], /usage: npm test/],
  [['one', 'two'], /one scenario at a time: one, two are several/],
  [['--slice', 'half'], /--slice takes a whole number, not "half"/],
  [['--slice', '-1'], /usage: npm test/],
  [['--slice', '1', '--all'], /exclude each other/],
  [['--only', 'e2e', '--real-node', '--all'], /exclude each other/],
  [['--real-node'], /--real-node is for stories: npm run e2e -- --real-node/],
  [['--only', 'e2e', '--consumers', '--real-node'], /exclude each other/],
  [['--consumers'], /--consumers is for stories: npm run e2e -- --consumers/],
] as const) {
  test(`"${args.join(' ')}" is refused`, () => {
    assert.throws(() => parseOptions(args), { name: 'UsageError', message });
  });
}

test('a scenario is a file by its name', async () => {
  const [selection, ...others] = await select({
    rooms: ['unit'],
    scenario: 'run-options',
    extent: 'all',
    json: undefined,
  });
  assert.deepEqual(others, []);
  assert.deepEqual(selection?.files, [import.meta.filename]);
  assert.equal(selection?.pattern, undefined);
});

test('a scenario is a test by part of its name, in whichever file has it', async () => {
  const [selection] = await select({
    rooms: ['unit'],
    scenario: 'A scenario is a TEST by part',
    extent: 'all',
    json: undefined,
  });
  assert.deepEqual(selection?.files, [import.meta.filename]);
  assert.equal(selection?.pattern?.test('a scenario is a test by part of its name'), true);
});

test('a dot in a scenario is a dot', async () => {
  const [selection] = await select({
    rooms: ['unit'],
    scenario: 'a dot in a scenario is a dot',
    extent: 'all',
    json: undefined,
  });
  assert.equal(selection?.pattern?.source.includes('\\.'), false);
  // The next line is what the search finds: 3.6.16 (of a scenario)
  const [dotted] = await select({
    rooms: ['unit'],
    scenario: '3.6.16 (of a scenario)',
    extent: 'all',
    json: undefined,
  });
  assert.equal(dotted?.pattern?.test('3x6y16 (of a scenario)'), false);
});

test('an unknown scenario lists those there are', async () => {
  // In one piece, it would be found right here.
  const missing = ['no', 'such', 'thing'].join('-');
  await assert.rejects(select({ rooms: ['unit'], scenario: missing, extent: 'all', json: undefined }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, new RegExp(`there is no scenario "${missing}"`));
    assert.match(error.message, /^ {2}run-options$/m);
    return true;
  });
});

test('what compares times runs alone, and what holds a gap to a limit beside one other', async () => {
  const selections = await select({ rooms: ['e2e'], scenario: undefined, extent: 'all', json: undefined }, []);
  const holding = /gap\w*(\.milliseconds)? < |gap: 'bounded'/i;
  for (const { files, sideBySide } of selections) {
    for (const file of files) {
      const isHolding = holding.test(await readFile(file, 'utf8'));
      assert.equal(measuring.includes(basename(file, '.test.ts')), isHolding, file);
      if (isHolding) assert.equal(sideBySide, 2, file);
    }
  }
  const [alone, , beside, others, ...more] = selections.filter(({ files }) => files.length > 0);
  assert.deepEqual([alone?.sideBySide, alone?.files.map((file) => basename(file, '.test.ts'))], [1, comparing]);
  assert.deepEqual([beside?.isBeside, beside?.files.length, beside?.sideBySide], [true, 3, 2], 'that mostly wait');
  assert.ok(others && others.files.length > measuring.length);
  assert.deepEqual(more, []);
});

test('what runs with each minor of Kubernetes is every file that is named, and nothing else', async () => {
  const selections = await select({ rooms, scenario: undefined, extent: 'perMinor', json: undefined });
  for (const room of ['integration', 'e2e'] as const) {
    const selected = selections.filter((selection) => selection.room === room).flatMap(({ files }) => files);
    const names = selected.map((file) => basename(file, '.test.ts'));
    assert.deepEqual(names.toSorted(), [...perMinor[room]].toSorted(), room);
  }
  assert.equal(selections.filter(({ room }) => room === 'unit' || room === 'explore').length, 0);
});

test('a scenario that does not depend on the minor is unknown among those that do', async () => {
  await assert.rejects(select({ rooms, scenario: 'run-options', extent: 'perMinor', json: undefined }), {
    name: 'UsageError',
  });
});

test('real nodes run the stories that are about them, and by its name any other', async () => {
  const ran = async (scenario: string | undefined) => {
    const selections = await select({ rooms: ['e2e'], scenario, extent: 'realNode', json: undefined });
    return selections.flatMap(({ room, files }) => files.map((file) => `${room}: ${basename(file, '.test.ts')}`));
  };
  assert.deepEqual((await ran(undefined)).toSorted(), ['e2e: installed', 'e2e: limits']);
  assert.deepEqual(await ran('limits'), ['e2e: limits']);
  assert.deepEqual(await ran('restore'), ['e2e: restore']);
});

test('what needs PostgreSQL or PyPI is told where it is asked for, and in no other run', async () => {
  const told = async (extent: 'consumers' | 'all' | 'ring1', scenario?: string) => {
    const selections = await select({ rooms: ['e2e'], scenario, extent, json: undefined });
    return selections.flatMap(({ files }) =>
      files.map((file) => relative(resolve(import.meta.dirname, '../../..'), file)),
    );
  };
  const apart = ['test/consumers/patroni.test.ts'];
  assert.deepEqual(await told('consumers'), apart);
  assert.deepEqual(await told('consumers', 'patroni'), apart);
  for (const extent of ['all', 'ring1'] as const) {
    const others = await told(extent);
    assert.ok(others.length > 0);
    assert.deepEqual(
      others.filter((file) => apart.includes(file)),
      [],
    );
  }
});
