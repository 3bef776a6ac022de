import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupMeanings } from '../../../reconcile/backup/reasons.ts';
import { backupRunbooks, withRunbook } from '../../../reconcile/reasons/backup-runbooks.ts';
import { restoreMeanings } from '../../../reconcile/restore/reasons.ts';
import { scheduleMeanings } from '../../../reconcile/schedule/reasons.ts';
import { anchorsOf, read } from './pages.ts';

const page = 'docs/runbooks/backup-fails.md';

/** What asks for a person: the others have no cure, or one that asks for nothing. */
const words = (meanings: Readonly<Record<string, { readonly means: string; readonly cure?: string }>>) =>
  Object.entries(meanings)
    .filter(([, { cure = '' }]) => cure !== '' && !/^nothing/.test(cure))
    .map(([word]) => word);

const asked = {
  EtcdBackup: words(backupMeanings),
  EtcdRestore: words(restoreMeanings),
  EtcdBackupSchedule: words(scheduleMeanings),
} as const;

for (const [kind, link] of Object.entries(backupRunbooks))
  test(`the section of the runbook of ${kind} names each reason that needs a person`, () => {
    const [file, anchor = ''] = link.split('#');
    assert.equal(file, page);
    assert.ok(anchorsOf(read(page)).includes(anchor), link);
    const section = read(page)
      .split('\n## ')
      .find((text) => anchorsOf(`## ${text}`)[0] === anchor);
    const reasons = asked[kind as keyof typeof asked];
    assert.ok(reasons.length > 3, String(reasons));
    assert.deepEqual(
      reasons.filter((word) => !section?.includes(`\`${word}\``)),
      [],
    );
  });

test('the message of what needs a person ends with the address of its section', () => {
  assert.match(
    withRunbook('the bucket is not there', 'EtcdBackup'),
    /^the bucket is not there \(runbook: https:\/\/\S+\/docs\/runbooks\/backup-fails\.md#a-backup\)$/,
  );
});
