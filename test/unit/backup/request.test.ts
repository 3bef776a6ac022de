import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';
import { parseRequest } from '../../../reconcile/backup/agent/request.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

const backup = {
  operation: 'backup',
  id: 'uid',
  object: 'pvc://backups/ns/main/x.db',
  store: { directory: '/backups' },
  deadlineSeconds: 60,
  source: { endpoints: ['https://10.0.0.1:2379'] },
};

function problem(request: unknown): string {
  try {
    parseRequest(typeof request === 'string' ? request : JSON.stringify(request));
  } catch (error) {
    assert.ok(error instanceof BackupFailure && error.reason === 'InvalidRequest', String(error));
    return error.message;
  }
  assert.fail('it was taken');
}

test('a request is read with where its object is', () => {
  const request = parseRequest(JSON.stringify(backup));
  assert.ok('location' in request);
  assert.deepEqual(request.location, { scheme: 'pvc', bucket: 'backups', path: 'ns/main/x.db' });
});

test('a wrong request is refused with everything that is wrong with it', () => {
  assert.match(problem(''), /is no JSON/);
  assert.match(problem([]), /is no object/);
  assert.match(problem({ ...backup, operation: 'backpu' }), /operation must be one of .* did you mean backup/);
  assert.match(problem({ ...backup, operation: 'constructor' }), /operation must be one of/);
  const many = problem({
    ...backup,
    id: undefined,
    compression: 'lz4',
    deadlineSeconds: 0,
    object: 'gs://x',
    password: 'p',
  });
  for (const part of [/id/, /compression/, /deadlineSeconds/, /object: /, /password/]) assert.match(many, part);
  assert.match(problem({ ...backup, store: {} }), /store.directory is required/);
  assert.match(problem({ ...backup, source: { endpoints: [] } }), /endpoints is empty/);
  const apart = [
    'http://listed.example?x.others.example',
    'http://a\\b',
    'http://a#b:1',
    'http://a%2eb',
    'http://[::1',
    'http://a:b',
  ];
  for (const endpoint of [
    '10.0.0.1:2379',
    'http://user:secret@etcd:2379',
    'http://',
    'http://a b',
    'ftp://a',
    ...apart,
  ])
    assert.match(problem({ ...backup, source: { endpoints: [endpoint] } }), /write it like/);
});

test('retention is asked for a prefix, which may end within a name, and for a known time zone', () => {
  const asked = {
    operation: 'prune',
    prefix: 'gs://backups/ns/main/',
    schedule: 'uid',
    keep: { last: 7 },
    timeZone: 'Europe/Berlin',
    most: 100,
    deadlineSeconds: 60,
  };
  for (const [prefix, path] of [
    ['gs://backups/ns/main/', 'ns/main/'],
    ['gs://backups/ns/main-', 'ns/main-'],
    ['gs://backups/', ''],
  ] as const) {
    const location = { scheme: 'gs', bucket: 'backups', path };
    assert.partialDeepStrictEqual(parseRequest(JSON.stringify({ ...asked, prefix })), { location });
  }
  assert.match(problem({ ...asked, prefix: 'gs://backups' }), /prefix: the path .* is missing/);
  assert.match(problem({ ...asked, prefix: 'gs://backups/../' }), /prefix: /);
  assert.match(problem({ ...asked, timeZone: 'Europe/Berln' }), /timeZone: .*did you mean Europe\/Berlin/);
  assert.match(problem({ ...asked, most: 0 }), /most must be at least 1/);
  assert.match(problem({ ...asked, schedule: undefined }), /schedule is required/);
  assert.match(problem({ ...asked, keep: { last: -1 } }), /keep.last must be at least 0/);
});

test('no document makes the agent throw, and its result fits a termination message', async () => {
  const context = { signal: AbortSignal.timeout(60_000), now: () => new Date(0), note: () => undefined };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.object().map((value) => JSON.stringify({ ...backup, ...value, operation: 'x' })),
      ),
      async (json) => {
        const { result, exitCode } = await runAgent(json, context);
        assert.deepEqual([result.ok, exitCode], [false, 2]);
        assert.ok(JSON.stringify(result).length < 4096);
      },
    ),
  );
});

test('a request to place names no object, and no attempt twice', () => {
  const place = {
    operation: 'place',
    restorer: { id: 'token', attempt: 1 },
    dataDirectory: '/var/lib/etcd/data',
    deadlineSeconds: 60,
  };
  assert.deepEqual(parseRequest(JSON.stringify(place)), place);
  assert.match(problem({ ...place, restorer: { id: 'token', attempt: 0 } }), /attempt/);
  assert.match(problem({ ...place, object: backup.object }), /object/);
  assert.match(problem({ ...place, restorer: undefined }), /restorer/);
});

test('a snapshot to stage is told by a sha256 of lower-case digits and a revision', () => {
  const stage = {
    operation: 'stage',
    object: backup.object,
    store: backup.store,
    restorer: { id: 'token', attempt: 1 },
    dataDirectory: '/var/lib/etcd/data',
    deadlineSeconds: 60,
    version: '3.6.16',
    sha256: 'f'.repeat(64),
    revision: 12,
    bump: 1000,
  };
  assert.partialDeepStrictEqual(parseRequest(JSON.stringify(stage)), stage);
  for (const sha256 of ['', 'f'.repeat(63), 'F'.repeat(64), `${'f'.repeat(63)}ｆ`, 7, {}])
    assert.match(problem({ ...stage, sha256 }), /sha256/);
  for (const revision of [0, -1, 1.5, '12']) assert.match(problem({ ...stage, revision }), /revision/);
  for (const bump of [-1, 1.5, 2 ** 53, '12', undefined]) assert.match(problem({ ...stage, bump }), /bump/);
});
