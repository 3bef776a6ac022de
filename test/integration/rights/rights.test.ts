import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { notesOf, usedRight } from '../../support/fakes/used-rights.ts';

/** What roles grant, against the requests that our code makes in these stories; and the other way round. */

const checkout = resolve(import.meta.dirname, '../../..');
const directory = mkdtempSync(join(tmpdir(), 'used-rights-'));
after(() => rmSync(directory, { recursive: true }));

const ofInvocations = [
  'unit/cluster/world/member-defaults.test.ts',
  'unit/cluster/world/network-policy.test.ts',
  'unit/cluster/world/labels.test.ts',
  'unit/cluster/world/newest-backup.test.ts',
  'unit/cluster/world/final-backup.test.ts',
  'unit/cluster/world/corruption.test.ts',
  'unit/cluster/world/cert-manager.test.ts',
  'unit/cluster/world/intermediate.test.ts',
  'unit/cluster/actions/certificates-live.test.ts',
  'unit/cluster/world/certificates.test.ts',
  'unit/restore/restores.test.ts',
  'unit/schedule/lives.test.ts',
  'unit/backup/step.test.ts',
  'unit/backup/offers.test.ts',
  'unit/functions/chain.test.ts',
  'unit/functions/stop.test.ts',
  'unit/functions/wake.test.ts',
  'integration/fleet/backups.test.ts',
  'integration/fleet/checks-forgotten.test.ts',
] as const;

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

/** The unit tests of this run have noted theirs (test/run.ts). The others run now, one file after the other. */
async function used(stories: readonly string[]): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const story of stories) {
    const noted = notesOf(process.env.RATCHET_USED_RIGHTS ?? directory, story);
    const notes = story.startsWith('unit/') && existsSync(noted) ? noted : await told(story);
    for (const line of readFileSync(notes, 'utf8').trim().split('\n')) lines.add(line);
  }
  return lines;
}

async function told(story: string): Promise<string> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { cwd: checkout, env: { ...env, RATCHET_USED_RIGHTS: directory }, maxBuffer: 64 * 1024 * 1024 };
  await promisify(execFile)(process.execPath, ['--test', `test/${story}`], options);
  const notes = notesOf(directory, story);
  assert.ok(existsSync(notes), `${story} makes no request`);
  return notes;
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

test('a step for node policies has every right that it uses, and no other', async () => {
  const uses = [...(await used(['unit/nodes/stories.test.ts', 'unit/nodes/breaking.test.ts']))];
  const ofNodes = /(nodes|etcdnodepolicies|daemonsets)/;
  const own = new Set(uses.filter((line) => ofNodes.test(line)));
  compare(granted('ours', 'components/node-reboots/controller-role.yaml'), own);
  const others = granted('ours', 'cluster/role.yaml', 'cluster/node-role.yaml', 'cluster/priority.yaml');
  assert.deepEqual(
    uses.filter((line) => !own.has(line) && !others.has(line)),
    [],
    'used, and not granted',
  );
});

test('the webhook server has every right that it uses, and no other', async () => {
  const uses = await used(['unit/serve/webhooks.test.ts']);
  // Its Jobs are the CronJob's. Where admission guards owner references it may make none, and the next tick looks.
  const guarded = usedRight('ours', 'delete', 'jobs', 'batch');
  compare(granted('ours', 'webhooks-access/access.yaml'), new Set([...uses].filter((one) => one !== guarded)));
});

test('what is used elsewhere is named with a test that is there', () => {
  for (const file of Object.values(elsewhere)) assert.ok(existsSync(join(checkout, 'test', file)), file);
});
