import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { refuse, wait } from '../../reconcile/cluster/know/decision.ts';
import { needsPerson } from '../../reconcile/cluster/know/outcome.ts';
import { ofTheApiServer } from '../../reconcile/reasons/attempts.ts';
import { ofSecrets } from '../../reconcile/reasons/certificates.ts';
import type { Meaning } from '../../reconcile/reasons/meaning.ts';
import { courseOf, meanings, type Reason, reasonIn, reasonOfApi, tables } from '../../reconcile/reasons/reasons.ts';

const checkout = join(import.meta.dirname, '../..');
const rows = Object.entries<Meaning>(meanings);

describe('the table of reasons', () => {
  test('a word that is not in it does not compile, wherever it is said', () => {
    // @ts-expect-error a rule can't invent a word
    wait('UpgradngMember', 'no such word', { on: 'time', afterSeconds: 1 });
    // @ts-expect-error nor can a refusal
    refuse('UpgradngMember', 'no such word', 'none');
    // @ts-expect-error nor an action
    needsPerson('UpgradngMember', 'no such word');
    // @ts-expect-error nor what concludes something from a word
    const reason: Reason = 'UpgradngMember';
    assert.equal(reasonIn(reason), 'OfAnotherRelease');
  });

  test('no word stands in it twice', () => {
    const all = tables.flatMap((table) => Object.keys(table));
    assert.deepEqual(all.toSorted(), Object.keys(meanings).toSorted());
  });

  test('every word is CamelCase and has a sentence and a cure', () => {
    for (const [word, { means, cure }] of rows) {
      assert.match(word, /^[A-Z][A-Za-z]+$/);
      assert.match(means, /^[A-Za-z].*[.)]$/, word);
      assert.ok(means.length <= 120, `${word}: ${means.length} characters`);
      assert.match(cure, /\S/, word);
      assert.doesNotMatch(`${means}${cure}`, /[|\n]/, `${word} would break a table`);
    }
  });

  test('every word is said somewhere', () => {
    const files = globSync('reconcile/**/*.ts', { cwd: checkout }).filter(
      (path) => !path.startsWith('reconcile/reasons'),
    );
    const sources = files.map((path) => readFileSync(join(checkout, path), 'utf8')).join('\n');
    // The API server says its own words, and those of a Secret's content are put together.
    const others: object[] = [ofTheApiServer, ofSecrets, { OfAnotherRelease: 'see reasonIn' }];
    const silent = Object.keys(meanings).filter(
      (word) => !sources.includes(`'${word}'`) && !others.some((table) => Object.hasOwn(table, word)),
    );
    assert.deepEqual(silent, []);
  });

  test('what the page shows by its reason is at rest because a person asked for it', () => {
    const asked = rows.filter(([, { isAsked }]) => isAsked);
    assert.deepEqual(
      asked.map(([word]) => word),
      ['Hibernating', 'Suspended', 'Paused'],
    );
    for (const [word] of asked) assert.match(courseOf(word) ?? '', /^(rests|stopped)$/);
  });

  test("the API server's word is taken over only where it is one of its own", () => {
    assert.equal(reasonOfApi('Forbidden'), 'Forbidden');
    assert.equal(reasonOfApi('Expired'), 'Gone', 'ours is a certificate');
    assert.equal(reasonOfApi('Converged'), 'ApiServerRefused', 'a webhook may answer with anything');
    assert.equal(reasonOfApi(''), 'ApiServerRefused');
  });

  test('a word of another release says nothing of the members', () => {
    assert.equal(courseOf('Upgrading'), undefined);
    assert.equal(courseOf('toString'), undefined);
    assert.equal(courseOf(undefined), undefined);
  });
});
