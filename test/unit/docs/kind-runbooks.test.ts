import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gitErrorClasses } from '../../../gitops/git/error.ts';
import { backupMeanings } from '../../../reconcile/backup/reasons.ts';
import { failures } from '../../../reconcile/jobs/failure.ts';
import { nodeMeanings } from '../../../reconcile/nodes/reasons.ts';
import { kindRunbooks, withRunbook } from '../../../reconcile/reasons/runbook.ts';
import { restoreMeanings } from '../../../reconcile/restore/reasons.ts';
import { scheduleMeanings } from '../../../reconcile/schedule/reasons.ts';
import { ofKinds } from '../../e2e/support/runbooks/kinds.ts';
import { toldElsewhere } from '../../support/docs/told-elsewhere.ts';
import { anchorsOf, checkout, read } from './pages.ts';

const quoted = (word: string) => new RegExp(`\`${word}\``);

/** What asks for a person: the others have no cure, or one that asks for nothing. */
const words = (meanings: Readonly<Record<string, { readonly means: string; readonly cure?: string }>>) =>
  Object.entries(meanings)
    .filter(([, { cure = '' }]) => cure !== '' && !/^nothing/.test(cure))
    .map(([word]) => word);

/** Of the agent, whose messages have the cure. */
const ofAgent = Object.entries(failures).flatMap(([word, kind]) =>
  kind === 'person' || kind === 'defect' ? [word] : [],
);

const asked = {
  EtcdBackup: [...words(backupMeanings), ...ofAgent],
  EtcdRestore: words(restoreMeanings),
  EtcdBackupSchedule: words(scheduleMeanings),
  EtcdNodePolicy: words(nodeMeanings),
} as const;
type Kind = keyof typeof asked;
const kinds = Object.keys(asked) as Kind[];

/** What stands under the heading that the kind's link leads to, or the whole page. */
function sectionFor(kind: Kind): string {
  const [file = '', anchor] = kindRunbooks[kind].split('#');
  const text = read(file);
  if (anchor === undefined) return text;
  assert.ok(anchorsOf(text).includes(anchor), kindRunbooks[kind]);
  return text.split('\n## ').find((one) => anchorsOf(`## ${one}`)[0] === anchor) ?? assert.fail(anchor);
}

/** Of a birth from a snapshot: the agent says it in that section of the page. */
const ofBirths = [
  'NewerVersion',
  'RevisionTooHigh',
  'DataPresent',
  'NoRoomForTrial',
  'TrialFailed',
  'NoRoomForCopy',
  'NoData',
  'NotServed',
];

describe('each reason of a kind that asks for a person', () => {
  for (const kind of kinds)
    test(`of ${kind} stands in the section that the message links to`, () => {
      assert.ok(asked[kind].length > 3, kind);
      const section = sectionFor(kind);
      const births = read('docs/runbooks/backup-fails.md');
      assert.deepEqual(
        asked[kind].filter((word) => !quoted(word).test(ofBirths.includes(word) ? births : section)),
        [],
      );
    });

  const told = (kind: Kind) => [
    ...ofKinds.filter((story) => story.kind === kind).map(({ reason }) => reason),
    ...(toldElsewhere.ofKinds[kind] ?? []).flatMap(({ reasons }) => reasons),
  ];

  for (const kind of kinds)
    test(`of ${kind} happens in one story, or in the one test that the list names`, () => {
      const untold = Object.keys(toldElsewhere.untold).filter((word) => asked[kind].includes(word));
      assert.deepEqual([...told(kind), ...untold].toSorted(), [...asked[kind]].toSorted());
    });

  test('is a word of the test that the list names', () => {
    assert.deepEqual(
      Object.keys(toldElsewhere.ofKinds).filter((kind) => !(kind in asked)),
      [],
    );
    for (const { test: name, reasons } of Object.values(toldElsewhere.ofKinds).flat()) {
      const [source = assert.fail(name)] = [`${name}.test.ts`, `${name}.ts`]
        .filter((file) => existsSync(join(checkout, 'test', file)))
        .map((file) => read(`test/${file}`));
      for (const word of reasons) assert.match(source, new RegExp(`\\b${word}\\b`), name);
    }
  });

  test('is told of the right kind: what no test makes happen is a reason that is there', () => {
    for (const word of Object.keys(toldElsewhere.untold)) assert.ok(ofAgent.includes(word), word);
  });
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
