import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { statementsFor } from '../../../reconcile/cluster/report/conditions.ts';
import { ofSecrets } from '../../../reconcile/reasons/certificates.ts';
import type { Meaning } from '../../../reconcile/reasons/meaning.ts';
import { meanings } from '../../../reconcile/reasons/reasons.ts';
import { refusals } from '../../../reconcile/reasons/refusals.ts';
import { runbookOf } from '../../../reconcile/reasons/runbook.ts';
import { stories } from '../../e2e/support/runbooks/stories.ts';
import { sectionsOf } from '../../e2e/support/runbooks/typing.ts';
import { toldElsewhere } from '../../support/docs/told-elsewhere.ts';
import { checkout, read } from './pages.ts';

/** Pages without a block of commands of their own, and the test that makes a reason of theirs happen. */
const ownTests: Readonly<Record<string, string>> = {
  'adoption.md':
    'AdoptionNotApproved, and what ends it: test/e2e/adopt.test.ts; unit/cluster/adoption-goes-on.test.ts has the others',
};

const pages = globSync('*.md', { cwd: join(checkout, 'docs/runbooks') }).toSorted();
describe('runbooks', () => {
  test('each section that a story types is there', () => {
    for (const { page, looks = [], sections, interrupted = [] } of stories)
      for (const section of [...looks, ...sections, ...interrupted.flatMap((one) => one.sections)])
        assert.ok(sectionsOf(page).has(section), `${page}#${section}`);
  });

  test('each page that a reason leads to is executed', () => {
    const led = new Set(
      Object.keys(meanings).flatMap((word) => /runbooks\/([^#]+)/.exec(runbookOf(word) ?? '')?.[1] ?? []),
    );
    const executed = new Set(stories.map(({ page }) => page));
    assert.deepEqual(
      [...led].filter((page) => !executed.has(page) && !(page in ownTests)),
      [],
    );
    assert.deepEqual(
      pages.filter((page) => !['README.md', 'alerts.md', 'fleet.md', 'node-stuck.md'].includes(page) && !led.has(page)),
      [],
    );
  });

  for (const { title, page, reason, looks = [], sections } of stories)
    test(`the reason of "${title}" leads to the page that its story types`, () => {
      const { cure } = (meanings as Readonly<Record<string, Meaning>>)[reason] ?? assert.fail(reason);
      if (reason === 'Converged') return;
      const [, file, section] = /runbooks\/([^#]+)(?:#(.*))?$/.exec(runbookOf(reason) ?? '') ?? [];
      assert.equal(file, page, cure);
      if (section !== undefined && section in Object.fromEntries(sectionsOf(page)))
        assert.ok(
          [...looks, ...sections].includes(section) || (sectionsOf(page).get(section) ?? []).length === 0,
          section,
        );
    });

  const interruptions = stories.flatMap(({ page, interrupted = [] }) => interrupted.map((one) => ({ page, ...one })));
  for (const [reason, all] of Map.groupBy(interruptions, (one) => one.reason))
    test(`${reason}, which interrupts a story, leads to a section that is typed then`, () => {
      const [, file, section] = /runbooks\/([^#]+)(?:#(.*))?$/.exec(runbookOf(reason) ?? '') ?? [];
      assert.deepEqual([...new Set(all.map(({ page }) => page))], [file]);
      if (section !== undefined)
        assert.ok(
          all.some(({ sections }) => sections.includes(section)),
          section,
        );
    });
});

describe('each reason that asks for a person', () => {
  const asking = Object.entries(meanings as Readonly<Record<string, Meaning>>)
    .filter(([, { cure }]) => !/^nothing/.test(cure))
    .map(([word]) => word);
  const incidents = stories.flatMap(({ reason, earlier = [], interrupted = [], afterwards = [] }) => [
    reason,
    ...[...earlier, ...interrupted, ...afterwards].map((incident) => incident.reason),
  ]);
  const { onRealParts, simulated, sameCure } = toldElsewhere;
  const elsewhereFor = [
    ...Object.entries(onRealParts).map(([file, reasons]) => ({ file, reasons })),
    ...simulated.map(({ test, reasons }) => ({ file: `unit/${test}`, reasons })),
  ];
  /** The step's reason for a defect of a Secret, which the condition has without the first word. */
  const ofCondition = (word: string) => (Object.hasOwn(ofSecrets, word) ? word.replace(/^Certificate/, '') : word);

  test('happens in a story, or in a test that the list names', () => {
    const told = new Set([
      ...incidents,
      ...elsewhereFor.flatMap(({ reasons }) => reasons),
      ...Object.values(sameCure).flat(),
    ]);
    assert.ok(asking.length > 80);
    assert.deepEqual(
      asking.filter((word) => !told.has(word) && !told.has(ofCondition(word))),
      [],
    );
  });

  test('that the list names has no story, and its test has the word', () => {
    for (const { file, reasons } of elsewhereFor) {
      const source = read(`test/${file}.test.ts`);
      for (const word of reasons) {
        assert.ok(asking.includes(word) && !incidents.includes(word), word);
        assert.match(source, new RegExp(`\\b${word}\\b`), file);
      }
    }
  });

  test('that is like another one has its very sentence, and that one is told', () => {
    for (const [word, alike] of Object.entries(sameCure)) {
      assert.ok(incidents.includes(word), word);
      for (const other of alike) assert.equal(cureOf(other), cureOf(word), other);
    }
  });

  for (const { earlier = [], afterwards = [] } of stories)
    for (const { reason } of [...earlier, ...afterwards])
      test(`${reason}, which befalls the cluster of a story, is on its page`, () => {
        const [, page = assert.fail(reason)] = /runbooks\/([^#]+)/.exec(runbookOf(reason) ?? '') ?? [];
        assert.match(read(`docs/runbooks/${page}`), new RegExp(`\`${reason}\``));
      });

  function cureOf(word: string): string {
    return (meanings as Readonly<Record<string, Meaning>>)[word]?.cure ?? assert.fail(word);
  }
});

test('what is Stalled, or set aside, says in its message where its page is', () => {
  for (const word of Object.keys(refusals) as (keyof typeof refusals)[]) {
    const page = runbookOf(word);
    if (page === undefined) continue;
    const refusal = { kind: 'refuse', reason: word, message: 'it is so', cure: 'do that' } as const;
    const facts = { serving: true, allHealthy: true, cause: '' };
    const stalled = statementsFor(refusal, { kind: 'none' }, facts).find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.message, `it is so (runbook: ${page}). To go on: do that`);
  }
});
