import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { usedRight } from '../../support/fakes/used-rights.ts';

/** What roles grant, against the requests that our code makes in these stories; and the other way round. */

const checkout = resolve(import.meta.dirname, '../../..');
const directory = mkdtempSync(join(tmpdir(), 'used-rights-'));
after(() => rmSync(directory, { recursive: true }));

interface Story {
  readonly file: string;
  /** Of the tests' names. Absent: all. */
  readonly only?: string;
}

const ofInvocations: readonly Story[] = [
  { file: 'unit/cluster/world/member-defaults.test.ts' },
  { file: 'unit/cluster/world/network-policy.test.ts' },
  { file: 'unit/cluster/world/labels.test.ts', only: '\\(Service\\) loses all labels' },
  { file: 'unit/cluster/world/newest-backup.test.ts' },
  { file: 'unit/cluster/world/final-backup.test.ts' },
  { file: 'unit/cluster/world/corruption.test.ts' },
  { file: 'unit/cluster/world/cert-manager.test.ts', only: 'a birth asks for every leaf' },
  { file: 'unit/cluster/actions/certificates-live.test.ts' },
  { file: 'unit/cluster/world/certificates.test.ts', only: 'of a cluster of one: it restarts once' },
  { file: 'unit/restore/restores.test.ts' },
  { file: 'unit/schedule/lives.test.ts' },
  { file: 'unit/backup/step.test.ts' },
  { file: 'unit/functions/chain.test.ts' },
  { file: 'unit/functions/stop.test.ts' },
  { file: 'unit/functions/wake.test.ts' },
  { file: 'integration/fleet/backups.test.ts' },
  { file: 'integration/fleet/checks-forgotten.test.ts' },
];

/** What no story in memory shows, and the test that needs it. */
const elsewhere = {
  [usedRight('fleet', 'update', 'etcdclusters', 'etcd.ratchet.dev')]: 'integration/fleet/ownership.test.ts',
  [usedRight('fleet', 'update', 'etcdbackups', 'etcd.ratchet.dev')]: 'integration/fleet/ownership.test.ts',
  [usedRight('fleet', 'update', 'etcdbackupschedules', 'etcd.ratchet.dev')]: 'integration/fleet/ownership.test.ts',
  [usedRight('fleet', 'update', 'etcdrestores', 'etcd.ratchet.dev')]: 'integration/fleet/ownership.test.ts',
} as const;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function granted(who: string, ...files: readonly string[]): ReadonlySet<string> {
  const roles = files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(checkout, 'manifests/install', file), 'utf8')).map(
      (document) => document.toJS() as { readonly rules?: readonly Rule[] },
    ),
  );
  const rights = roles.flatMap(({ rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => usedRight(who, verb, resource, group))),
      ),
    ),
  );
  return new Set(rights);
}

let stories = 0;

/** Runs them one after the other, as tests of their own. */
async function used(list: readonly Story[]): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const { file, only } of list) {
    stories += 1;
    const notes = join(directory, `${stories}`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const options = { cwd: checkout, env: { ...env, RATCHET_USED_RIGHTS: notes }, maxBuffer: 64 * 1024 * 1024 };
    const pattern = only === undefined ? [] : ['--test-name-pattern', only];
    await promisify(execFile)(process.execPath, ['--test', ...pattern, `test/${file}`], options);
    assert.ok(existsSync(notes), `${file} makes no request`);
    for (const line of readFileSync(notes, 'utf8').trim().split('\n')) lines.add(line);
  }
  return lines;
}

function compare(rights: ReadonlySet<string>, uses: ReadonlySet<string>): void {
  assert.deepEqual(
    [...rights].filter((one) => !uses.has(one) && !Object.hasOwn(elsewhere, one)).toSorted(),
    [],
    'granted, and used in no story',
  );
  assert.deepEqual([...uses].filter((one) => !rights.has(one)).toSorted(), [], 'used, and not granted');
}

test('an invocation and its fleets have every right that they use, and no other', async () => {
  const uses = await used(ofInvocations);
  const of = (who: string) => new Set([...uses].filter((line) => line.startsWith(`${who} `)));
  compare(
    granted(
      'ours',
      'cluster/role.yaml',
      'cluster/node-role.yaml',
      'cluster/priority.yaml',
      'workload/fleet-host.yaml',
      'workload/own-namespace.yaml',
      'components/cert-manager/role.yaml',
    ),
    of('ours'),
  );
  compare(granted('fleet', 'cluster/fleet-role.yaml'), of('fleet'));
});

test('the webhook server has every right that it uses, and no other', async () => {
  const uses = await used([{ file: 'unit/serve/webhooks.test.ts' }]);
  // Its Jobs are the CronJob's. Where admission guards owner references it may make none, and the next tick looks.
  const guarded = usedRight('ours', 'delete', 'jobs', 'batch');
  compare(granted('ours', 'webhooks-access/access.yaml'), new Set([...uses].filter((one) => one !== guarded)));
});

test('what is used elsewhere is named with a test that is there', () => {
  for (const file of Object.values(elsewhere)) assert.ok(existsSync(join(checkout, 'test', file)), file);
});
