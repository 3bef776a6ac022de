import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitErrorClasses } from '../../../gitops/git/error.ts';
import { backupMeanings } from '../../../reconcile/backup/reasons.ts';
import { isStuck, type NodeReason, nodeMeanings } from '../../../reconcile/nodes/reasons.ts';
import { kindRunbooks, withRunbook } from '../../../reconcile/reasons/kind-runbooks.ts';
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

for (const kind of Object.keys(asked) as (keyof typeof asked)[]) {
  const link = kindRunbooks[kind];
  test(`the section of the runbook of ${kind} names each reason that needs a person`, () => {
    const [file, anchor = ''] = link.split('#');
    assert.equal(file, page);
    assert.ok(anchorsOf(read(page)).includes(anchor), link);
    const section = read(page)
      .split('\n## ')
      .find((text) => anchorsOf(`## ${text}`)[0] === anchor);
    const reasons = asked[kind];
    assert.ok(reasons.length > 3, String(reasons));
    assert.deepEqual(
      reasons.filter((word) => !section?.includes(`\`${word}\``)),
      [],
    );
  });
}

const quoted = (word: string) => new RegExp(`\`${word}\``);

test('the runbook of an EtcdNodePolicy names what it is Stalled for, and how a node fails', () => {
  const stuck = Object.keys(nodeMeanings).filter((word) => isStuck(word as NodeReason));
  assert.ok(stuck.length > 2);
  const text = read(kindRunbooks.EtcdNodePolicy);
  for (const word of [...stuck, 'InvalidWindow', 'JobRefused', 'RebootNotBegun']) assert.match(text, quoted(word));
});

test('the runbook of an EtcdFleet names each reason of Git, and of what is read there', () => {
  const text = read(kindRunbooks.EtcdFleet);
  const own = ['SecretUnreadable', 'DocumentsRefused', 'PruneNeedsConfirmation', 'ClusterStalled', 'BackupsStalled'];
  const ofGit = Object.entries(gitErrorClasses).flatMap(([word, kind]) => (kind === 'terminal' ? [word] : []));
  assert.ok(ofGit.length > 10);
  for (const word of [...own, ...ofGit]) assert.match(text, quoted(word));
});

test('the message of what needs a person ends with the address of its section', () => {
  assert.match(
    withRunbook('the bucket is not there', 'EtcdBackup'),
    /^the bucket is not there \(runbook: https:\/\/\S+\/docs\/runbooks\/backup-fails\.md#a-backup\)$/,
  );
});
