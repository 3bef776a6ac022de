import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialsFromSecret } from '../../../gitops/git/credentials.ts';
import { GitError } from '../../../gitops/git/error.ts';
import { selfSigned } from '../../support/git/certificate.ts';

const { cert } = selfSigned();

function secret(values: Readonly<Record<string, string | Buffer>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]),
  );
}

for (const [values, expected] of [
  [
    { username: 'ada', password: 'hunter2' },
    { username: 'ada', password: 'hunter2' },
  ],
  [{ token: 't0ken\n' }, { token: 't0ken' }],
  [{ bearerToken: 't0ken' }, { token: 't0ken' }],
  [
    { username: 'oauth2', token: 't0ken' },
    { username: 'oauth2', token: 't0ken' },
  ],
  [{ 'ca.crt': cert }, { caBundle: cert.trim() }],
  [
    { caFile: `# ours\n${cert}${cert}`, token: 'x', unrelated: 'y' },
    { token: 'x', caBundle: `${cert.trim()}\n${cert.trim()}` },
  ],
] as const) {
  test(`a Secret with ${Object.keys(values).join(' and ')} gives credentials`, () => {
    assert.deepEqual(credentialsFromSecret(secret(values)), expected);
  });
}

for (const [values, expected] of [
  [{}, /none of the keys/],
  [{ identity: 'hunter2' }, /SSH is not supported/],
  [{ username: 'ada' }, /neither password nor token/],
  [{ password: 'hunter2' }, /username is missing/],
  [{ username: 'ada', password: 'hunter2', token: 'hunter2' }, /both password and a token/],
  [{ token: 'hunter2', bearerToken: 'hunter2' }, /token and bearerToken mean the same/],
  [{ token: '' }, /token is empty/],
  [{ token: 'hunter2\nhunter2' }, /token contains a line break/],
  [{ token: Buffer.from([0xff, 0xfe]) }, /token is not UTF-8/],
  [{ username: 'a:b', password: 'hunter2' }, /username contains a colon/],
  [{ 'ca.crt': 'hunter2' }, /ca\.crt holds no PEM certificate/],
  [
    { 'ca.crt': '-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----' },
    /certificate 1 in ca\.crt cannot be read/,
  ],
] as const) {
  test(`a Secret with ${JSON.stringify(values).slice(0, 60)} is refused by key, never by value`, () => {
    assert.throws(
      () => credentialsFromSecret(secret(values)),
      (error) => {
        assert.ok(error instanceof GitError);
        assert.equal(error.reason, 'InvalidCredentials');
        assert.equal(error.class, 'terminal');
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  });
}

test('data that is not base64 is refused', () => {
  assert.throws(() => credentialsFromSecret({ token: 'hunter2!' }), /token is not base64/);
});
