import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrustedKeys } from '../../../../gitops/signatures/trusted-keys.ts';
import { openPgpKey } from '../../../support/git/openpgp-signing.ts';
import { sshSigner } from '../../../support/git/ssh-signing.ts';

const ada = sshSigner();
const [, key = ''] = ada.line('ada').split(/ (.*)/s);

function refusal(items: Readonly<Record<string, string>>): string {
  try {
    readTrustedKeys('signers', items);
  } catch (error) {
    assert.ok(error instanceof Error && 'reason' in error);
    assert.equal(error.reason, 'TrustedKeysUnusable');
    return error.message;
  }
  assert.fail('these keys are taken');
}

const taken: Readonly<Record<string, string>> = {
  'comments and empty lines': `# people\n\n  ${ada.line('ada')} a comment\r\n`,
  'several principals': ada.line('ada@example.com,*@example.org'),
  'quoted principals': ada.line('"ada lovelace@example.com"'),
  'namespaces with git': ada.line('ada', 'namespaces="file,git"'),
  'namespaces by a pattern': ada.line('ada', 'namespaces="g*"'),
  'options in capitals': ada.line('ada', 'Valid-Before="20300101Z",NAMESPACES="git"'),
  'a time with seconds': ada.line('ada', 'valid-after=20260101123059Z'),
};

for (const [what, line] of Object.entries(taken)) {
  test(`${what} are read as ssh-keygen reads them`, () => {
    assert.equal(readTrustedKeys('signers', { allowed_signers: line }).ssh.size, 1);
  });
}

const wrong: Readonly<Record<string, readonly [line: string, why: RegExp]>> = {
  'a line without a key': ['ada@example.com', /it has no key of a known type/],
  'a key without a principal': [key, /it has no key of a known type/],
  'a certificate authority': [ada.line('ada', 'cert-authority'), /cert-authority is not supported/],
  'a certificate': [
    ada.line('ada').replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com'),
    /its key is of another type than it says/,
  ],
  'an unknown option': [ada.line('ada', 'no-touch-required'), /an option that is unknown/],
  'an option twice': [ada.line('ada', 'valid-after=20200101Z,valid-after=20210101Z'), /valid-after stands there twice/],
  'namespaces twice': [ada.line('ada', 'namespaces="git",namespaces="git"'), /stands there twice/],
  'a time that is none': [ada.line('ada', 'valid-before=tomorrow'), /valid-before is no time/],
  'a month that is none': [ada.line('ada', 'valid-before=20261301Z'), /valid-before is no time/],
  'an end before the beginning': [ada.line('ada', 'valid-after=20270101Z,valid-before=20260101Z'), /is not before/],
  'a quote without an end': [`"ada ${key}`, /a quotation mark has no end/],
  'a key that is no base64': ['ada ssh-ed25519 AAAA!', /its key is no base64/],
  'a key that is cut': ['ada ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA', /its key can't be used: it has .* cut off/],
  'a key of 1024 bits': [sshSigner('ssh-rsa', { rsaBits: 1024 }).line('ada'), /uses an RSA key of 1024 bits/],
  DSA: ['ada ssh-dss AAAAB3NzaC1kc3M=', /type ssh-dss, which is not supported/],
  'a line that is too long': [`${'a'.repeat(20_000)} ${key}`, /more than 16384 characters/],
};

for (const [what, [line, why]] of Object.entries(wrong)) {
  test(`${what} is refused with its line, and no key of the file counts`, () => {
    const message = refusal({ allowed_signers: `${ada.line('bob')}\n${line}\n` });
    assert.match(message, why);
    assert.match(message, /^ConfigMap signers of spec\.git\.verify can't be used: allowed_signers:2: /);
  });
}

test('a key for other namespaces alone signs no commit, and is no mistake', () => {
  for (const namespaces of ['file', '!git,*', 'gi', 'git?'])
    assert.match(refusal({ allowed_signers: ada.line('ada', `namespaces="${namespaces}"`) }), /holds no key/);
});

test('no word of a ConfigMap is repeated: it may hold something else', () => {
  const message = refusal({ allowed_signers: 'password=hunter2 and more', 'ada.asc': 'hunter2' });
  assert.doesNotMatch(message, /hunter2/);
});

test('several problems are told, three of them by name', () => {
  const message = refusal({ allowed_signers: 'a\nb\nc\nd\ne\n' });
  assert.match(message, /allowed_signers:1: .*; allowed_signers:2: .*; allowed_signers:3: .*; and 2 more$/);
});

test('a ConfigMap without a key, or with an item that is neither, is refused', async () => {
  assert.match(refusal({}), /holds no key: put SSH keys into an item allowed_signers/);
  assert.match(refusal({ allowed_signers: '# nobody\n' }), /holds no key/);
  const { publicKey } = await openPgpKey();
  assert.match(refusal({ 'ada.asc': publicKey, 'notes.txt': 'x' }), /notes\.txt: its name ends in neither/);
});

test('what is between blocks of OpenPGP keys, or a block that is cut, is refused with its line', async () => {
  const { publicKey } = await openPgpKey();
  assert.match(refusal({ 'a.asc': `${publicKey}\nhello\n${publicKey}` }), /a\.asc:\d\d: it holds something else/);
  assert.match(refusal({ 'a.asc': publicKey.slice(0, -30) }), /a\.asc:1: it holds something else/);
  assert.match(refusal({ 'a.asc': '' }), /a\.asc: it holds no armored OpenPGP public key/);
  assert.equal(readTrustedKeys('signers', { 'a.asc': `\n${publicKey}\n\n${publicKey}` }).openPgp.length, 2);
});

test('hostile lists are read, or refused, in less than a second', async () => {
  const { publicKey } = await openPgpKey();
  const begin = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n';
  const hostile: Readonly<Record<string, string>>[] = [
    { 'a.asc': begin.repeat(7000) },
    { allowed_signers: 'a '.repeat(120_000) },
    { allowed_signers: `${ada.line('ada', `namespaces="${'*'.repeat(15_000)}x"`)}` },
    { allowed_signers: `${'"a'.repeat(7_001)} ${key}` },
    { allowed_signers: 'x\n'.repeat(120_000) },
    { 'a.asc': publicKey.repeat(300) },
    { allowed_signers: 'x'.repeat(300_000) },
    {
      'a.asc': `${begin}\n${Buffer.from('c50000'.repeat(40_000), 'hex').toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----`,
    },
  ];
  for (const items of hostile) {
    const began = process.cpuUsage();
    refusal(items);
    assert.ok(process.cpuUsage(began).user < 1_000_000, JSON.stringify(items).slice(0, 60));
  }
});
