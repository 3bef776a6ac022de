import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { forgeCredentialsFromSecret } from '../../../gitops/forges/credentials.ts';
import { GitError } from '../../../gitops/git/error.ts';
import { selfSigned } from '../../support/git/certificate.ts';

const { cert } = selfSigned();
const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
const elliptic = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const app = { appId: '1', installationId: '2', privateKey: pem };

function secret(values: Readonly<Record<string, string | Buffer>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]),
  );
}

for (const [name, values, accepts, expected] of [
  ['a token', { token: 't\n' }, ['token'], { credentials: { kind: 'token', token: 't' } }],
  [
    'a token beside what Git needs',
    { token: 't', username: 'ada' },
    ['token', 'basic'],
    { credentials: { kind: 'token', token: 't' } },
  ],
  [
    'a password, where one is taken',
    { username: 'ada', password: 'p' },
    ['token', 'basic'],
    { credentials: { kind: 'basic', username: 'ada', password: 'p' } },
  ],
  ['an App', app, ['token', 'app'], { credentials: { kind: 'app', ...app } }],
  [
    'an authority',
    { token: 't', 'ca.crt': cert },
    ['token'],
    { credentials: { kind: 'token', token: 't' }, caBundle: cert.trim() },
  ],
] as const) {
  test(`${name} is read from the Secret of a forge`, () => {
    assert.deepEqual(forgeCredentialsFromSecret(secret(values), accepts), expected);
  });
}

for (const [name, values, accepts, expected] of [
  [
    'nothing',
    {},
    ['token', 'app'],
    /lacks the keys that this forge takes: token, or appId, installationId and privateKey/,
  ],
  ['a password where only tokens are taken', { username: 'a', password: 'hunter2' }, ['token'], /takes: token$/],
  ['a password without a name', { password: 'hunter2' }, ['token', 'basic'], /username is missing/],
  ['two ways in', { ...app, token: 'hunter2' }, ['token', 'app'], /both token and appId.* are there: keep one/],
  ['half an App', { appId: '1' }, ['token', 'app'], /installationId and privateKey is missing/],
  ['an App by its name', { ...app, appId: 'hunter 2' }, ['app'], /appId is not as GitHub writes it/],
  ['a token of other letters', { token: 'hunter2•' }, ['token'], /token contains a space, or a character that is not/],
  ['a token of two words', { token: 'Bearer hunter2' }, ['token'], /token contains a space, or/],
  ['a path for a number', { ...app, installationId: '../hunter2' }, ['app'], /installationId is not/],
  ['a key that is none', { ...app, privateKey: 'hunter2' }, ['app'], /privateKey is not an RSA private key/],
  ['a key of another kind', { ...app, privateKey: elliptic }, ['app'], /privateKey is not an RSA private key/],
  ['an authority that is none', { token: 'hunter2', 'ca.crt': 'x' }, ['token'], /ca\.crt holds no PEM/],
] as const) {
  test(`${name} in the Secret of a forge is refused by key, never by value`, () => {
    assert.throws(
      () => forgeCredentialsFromSecret(secret(values), accepts),
      (error) => {
        assert.ok(error instanceof GitError);
        assert.equal(error.reason, 'InvalidCredentials');
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  });
}
