import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { searched } from '../../explore/run.ts';
import { culprit } from '../../mutants/kill.ts';
import { chosen, DoesNotApply, lineOf, type Mutant, mutated, nameOf } from '../../mutants/mutant.ts';
import { parseOptions } from '../../mutants/options.ts';
import { fails, lineFor, type Outcome, summaryOf, type Tried } from '../../mutants/outcome.ts';
import { mutants } from '../../mutants/tables.ts';
import { sourceOf } from '../../mutants/tree.ts';

const checkout = join(import.meta.dirname, '../../..');
const source = 'one\nif (two && three) stop();\nfour two\n';
const mutant: Mutant = { file: 'a.ts', from: 'b', to: 'c', without: 'the guard', killers: ['test/a.test.ts'] };
const tried = (outcome: Outcome, survives?: string): Tried => ({
  mutant: { ...mutant, ...(survives !== undefined && { survives }) },
  line: 7,
  outcome,
  took: 1234,
});

test('a mutant is made where its text is in the file once, and nowhere else', () => {
  assert.equal(mutated(source, { from: ' && three', to: '' }), 'one\nif (two) stop();\nfour two\n');
  for (const from of ['five', 'two', '']) assert.throws(() => mutated(source, { from, to: 'six' }), DoesNotApply);
  assert.throws(() => mutated(source, { from: 'four', to: 'four' }), DoesNotApply);
});

test('what stands for a pattern in a replacement is taken as it is', () => {
  assert.equal(mutated('a.b', { from: '.', to: "$&$'" }), "a$&$'b");
});

test('a mutant is named by the first line that it changes', () => {
  assert.equal(lineOf(source, { from: 'one\nif (two && three)', to: 'one\nif (two)' }), 2);
  assert.equal(lineOf(source, { from: 'four', to: '' }), 3);
});

test('mutants are chosen by file, by what is missing, and by who is to notice', () => {
  const other = { ...mutant, file: 'other.ts', killers: [{ search: 'Heal 3' }] } as const;
  assert.deepEqual(chosen([mutant, other], 'OTHER'), [other]);
  assert.deepEqual(chosen([mutant, other], 'heal 3'), [other]);
  assert.deepEqual(chosen([mutant, other], 'the guard'), [mutant, other]);
  assert.deepEqual(chosen([mutant, other], 'none'), []);
});

test('options are read, and what is none is refused', () => {
  assert.deepEqual(parseOptions([]), { only: '', workers: 2, list: false, help: false });
  assert.equal(parseOptions(['--only', 'heal']).only, 'heal');
  for (const args of [['--workers', '0'], ['--workers', 'two'], ['--fast'], ['heal']]) {
    assert.throws(() => parseOptions(args), TypeError);
  }
});

test('a run fails by a survivor without an explanation, and by a mutant that does not apply', () => {
  assert.equal(fails(tried({ kind: 'survived' })), true);
  assert.equal(fails(tried({ kind: 'does not apply', why: 'gone' }, 'equivalent')), true);
  assert.equal(fails(tried({ kind: 'survived' }, 'equivalent')), false);
  assert.equal(fails(tried({ kind: 'died', by: 'a' }, 'equivalent')), false);
  assert.equal(fails(tried({ kind: 'timed out', by: 'a' })), false);
});

test('the summary counts every end, and names again what fails the run', () => {
  const all = [
    tried({ kind: 'died', by: 'a' }),
    tried({ kind: 'timed out', by: 'a' }),
    tried({ kind: 'survived' }, 'equivalent'),
    tried({ kind: 'survived' }),
    tried({ kind: 'does not apply', why: 'its text is gone' }),
  ];
  const summary = summaryOf(all, { time: 61_000, workers: 2 });
  assert.match(
    summary,
    /^5 mutants: 2 died \(1 by time-out\), 1 survived, 1 survived as explained, 1 do not apply; 61\.0 s, 2 at a time$/m,
  );
  assert.equal(summary.match(/a\.ts:7/g)?.length, 2);
  assert.match(lineFor(tried({ kind: 'survived' })), /^SURVIVED {8}1\.2 s {2}a\.ts:7 {2}the guard$/);
});

test('the first test that failed is the one that noticed', () => {
  const output = 'TAP version 13\nok 1 - first\n# Subtest: outer\n    not ok 1 - inner: it\n  not ok 2 - outer\n';
  assert.equal(culprit('test/a.test.ts', output), '"inner: it" of test/a.test.ts');
  assert.equal(culprit('test/a.test.ts', 'a crash'), 'test/a.test.ts');
  assert.equal(culprit({ search: 'heal 3' }, 'I9: no quorum\na story'), 'I9 in search "heal 3"');
  assert.equal(culprit({ search: 'heal 3' }, 'a crash'), 'search "heal 3"');
});

test('every mutant applies to the sources as they are, and its killers are there', async () => {
  for (const one of mutants) {
    const text = await sourceOf(one);
    assert.doesNotThrow(() => mutated(text, one), `${one.file}: ${one.without}`);
    for (const killer of one.killers) {
      const isThere =
        typeof killer === 'string' ? existsSync(join(checkout, killer)) : searched.includes(killer.search);
      assert.ok(isThere, `${one.file}: ${nameOf(killer)} is not there`);
    }
  }
});
