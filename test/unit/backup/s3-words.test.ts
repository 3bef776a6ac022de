import assert from 'node:assert/strict';
import { test } from 'node:test';
import { s3Failure } from '../../../reconcile/backup/stores/s3/s3-failures.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

const call = { place: 's3://b', name: 'a.db', call: 'read', region: 'eu-central-1' } as const;

function told(name: string, status: number): string {
  const failure = s3Failure({ name, message: 'secret-words', $metadata: { httpStatusCode: status } }, call);
  assert.ok(failure instanceof BackupFailure);
  return failure.message;
}

test('a code of S3 is told, any other word that a store answers is not', () => {
  assert.match(told('AccessDenied', 403), /\(403, AccessDenied\)/);
  for (const word of ['hunter2', 'root_password_is_x', 'constructor', '__proto__']) {
    assert.match(told(word, 403), /\(403\)/);
    assert.match(told(word, 418), /\(418\)/);
    assert.doesNotMatch(told(word, 500), new RegExp(`${word}|secret-words`));
  }
});

test('each word about another region, or about a full store, is told with its own cure', () => {
  const reasonOf = (name: string, status: number) => {
    const failure = s3Failure({ name, $metadata: { httpStatusCode: status } }, call);
    return failure instanceof BackupFailure ? failure.reason : 'no failure';
  };
  const region =
    'PermanentRedirect TemporaryRedirect AuthorizationHeaderMalformed IllegalLocationConstraintException IncorrectEndpoint';
  for (const word of region.split(' ')) assert.equal(reasonOf(word, 400), 'WrongRegion', word);
  for (const word of 'QuotaExceeded XMinioStorageFull XMinioAdminBucketQuotaExceeded InsufficientStorage'.split(' '))
    assert.equal(reasonOf(word, 400), 'Full', word);
  for (const status of [301, 307]) assert.equal(reasonOf('', status), 'WrongRegion');
  assert.deepEqual([reasonOf('', 507), reasonOf('', 400)], ['Full', 'StoreRefused']);
});
