import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, test } from 'node:test';
import { parse } from 'yaml';
import { parseOptions } from '../../run/options.ts';
import { select } from '../../run/scenarios.ts';
import {
  chosenGitServer,
  gitReports,
  gitServerVariable,
  otherServers,
  personalityNames,
  traitsOf,
} from '../../support/git/personalities.ts';
import { type Capability, can } from '../../support/git/traits.ts';

const before = process.env[gitServerVariable];
afterEach(() => {
  if (before === undefined) delete process.env[gitServerVariable];
  else process.env[gitServerVariable] = before;
});

async function against(args: readonly string[]) {
  const selections = await select(parseOptions(args), []);
  const own = selections.filter(({ gitServer }) => gitServer === undefined).flatMap(({ files }) => files);
  const others = selections.filter(({ gitServer }) => gitServer !== undefined);
  return { own, others, rooms: selections.map(({ room }) => room) };
}

test('all that is about Git runs against every server in a run of all, before the stories', async () => {
  delete process.env[gitServerVariable];
  const { own, others, rooms } = await against(['--all']);
  assert.deepEqual(
    others.map(({ gitServer }) => gitServer),
    otherServers,
  );
  for (const { files } of others) {
    const names = files.map((file) => basename(file, '.test.ts'));
    for (const name of ['fetch', 'partial', 'merge', 'resolve', 'reader', 'monorepo', 'signed-commits'])
      assert.ok(names.includes(name), name);
    assert.ok(!names.includes('large-files'));
    assert.ok(files.every((file) => own.includes(file)));
  }
  assert.ok(rooms.indexOf('e2e') > rooms.lastIndexOf('integration'));
});

test('what is about Git runs alone against every server, or against the one that a person names', async () => {
  delete process.env[gitServerVariable];
  const { own, others } = await against(['--git-servers']);
  assert.deepEqual(own, []);
  assert.deepEqual(others, (await against(['--all'])).others);
  process.env[gitServerVariable] = 'azure';
  const named = await against(['--git-servers']);
  assert.deepEqual(named.others, []);
  assert.deepEqual(named.own.toSorted(), [...new Set(others.flatMap(({ files }) => files))].toSorted());
});

test('the workflow runs what is about Git against every server that there is', () => {
  const { jobs } = parse(readFileSync(join(import.meta.dirname, '../../../.github/workflows/ci.yml'), 'utf8'));
  assert.deepEqual(jobs['git-servers'].strategy.matrix.server.toSorted(), otherServers.toSorted());
});

test('a person who names a server runs against that alone, and other runs against git’s own', async () => {
  for (const args of [[], ['--slice', '1'], ['--only', 'integration', 'fetch'], ['--per-minor']])
    assert.deepEqual((await against(args)).others, [], args.join(' '));
  process.env[gitServerVariable] = 'azure';
  assert.deepEqual((await against(['--all'])).others, []);
});

test('a server that is not there is refused, and the refusal names those that are', async () => {
  process.env[gitServerVariable] = 'sourceforge';
  await assert.rejects(against(['--only', 'integration', 'fetch']), {
    name: 'UsageError',
    message: /"sourceforge".*github, gitea, gitlab, azure, codecommit/,
  });
  assert.equal(chosenGitServer({}), 'git');
  assert.equal(chosenGitServer({ [gitServerVariable]: '' }), 'git');
});

test('git’s own server can do all that tests need, and for each need there is one that can’t', () => {
  const needs = ['asFewRequests', 'direct', 'wholeCommits', 'filter', 'commitsWithoutRefs', 'anyUser'] as const;
  needs satisfies readonly Capability[];
  for (const need of needs) {
    assert.ok(can(traitsOf('git'), need), need);
    assert.ok(
      personalityNames.some((name) => !can(traitsOf(name), need)),
      need,
    );
  }
});

test('no two rows of a server play the same trait with different values', () => {
  for (const name of personalityNames) {
    const traits = gitReports[name].flatMap(({ plays }) => Object.keys(plays));
    assert.equal(new Set(traits).size, traits.length, name);
  }
});
