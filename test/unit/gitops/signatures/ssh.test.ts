import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signerOf } from '../../../../gitops/signatures/signer.ts';
import { readTrustedKeys } from '../../../../gitops/signatures/trusted-keys.ts';
import { type SshSigning, sshKinds, sshSigner } from '../../../support/git/ssh-signing.ts';

const payload = Buffer.from('tree 0000\n\nhello\n');
const now = Date.parse('2026-11-27T00:00:00Z') / 1000;

function judged(signature: string, allowed: string, { at = now, of = payload } = {}) {
  const trusted = readTrustedKeys('signers', { allowed_signers: allowed });
  return signerOf({ payload: of, signature, at }, trusted, now);
}

function invalid(message: RegExp) {
  return { name: 'SignatureRefusal', reason: 'SignatureInvalid', message };
}

for (const kind of sshKinds) {
  test(`a signature by ${kind} counts, and one of other bytes does not`, () => {
    const ada = sshSigner(kind);
    const line = ada.line('ada@example.com');
    for (const hash of ['sha256', 'sha512'] as const)
      assert.equal(judged(ada.sign(payload, { hash }), line).by, 'ada@example.com');
    assert.throws(() => judged(ada.sign('another'), line), invalid(/is not one of it/));
  });
}

test('rsa-sha2-256 counts, and ssh-rsa, which is SHA-1, does not', () => {
  const ada = sshSigner('ssh-rsa');
  const line = ada.line('ada');
  assert.equal(judged(ada.sign(payload, { format: 'rsa-sha2-256' }), line).by, 'ada');
  assert.throws(() => judged(ada.sign(payload, { format: 'ssh-rsa' }), line), invalid(/format ssh-rsa/));
});

const refused: Readonly<
  Record<string, { readonly kind?: 'sk-ssh-ed25519@openssh.com'; readonly change: SshSigning; readonly why: RegExp }>
> = {
  'a signature for another namespace': { change: { namespace: 'file' }, why: /signed for namespace file, not git/ },
  'a signature in a namespace that only begins like ours': { change: { namespace: 'git2' }, why: /namespace git2/ },
  'a signature over a weak hash': { change: { hash: 'sha1' as 'sha256' }, why: /over sha1/ },
  'a signature of another kind than its key': { change: { format: 'ecdsa-sha2-nistp256' }, why: /another kind/ },
  'a security key that no person touched': {
    kind: 'sk-ssh-ed25519@openssh.com',
    change: { flags: 0 },
    why: /no person touched/,
  },
};

for (const [what, { kind, change, why }] of Object.entries(refused)) {
  test(`${what} is refused by name`, () => {
    const ada = sshSigner(kind ?? 'ssh-ed25519');
    assert.throws(() => judged(ada.sign(payload, change), ada.line('ada')), invalid(why));
  });
}

test('the key that stands in the signature counts only if it is a trusted one', () => {
  const [ada, mallory] = [sshSigner(), sshSigner()];
  assert.throws(() => judged(mallory.sign(payload), ada.line('ada')), {
    reason: 'SignerNotTrusted',
    message: /^is signed by SSH key SHA256:[A-Za-z0-9+/]{43}, which is not trusted$/,
  });
});

test('a signature that is cut, extended or of another version is refused, whatever its bytes are', () => {
  const ada = sshSigner();
  const bytes = Buffer.from(ada.sign(payload).split('\n').slice(1, -2).join(''), 'base64');
  const armored = (data: Buffer) =>
    `-----BEGIN SSH SIGNATURE-----\n${data.toString('base64')}\n-----END SSH SIGNATURE-----\n`;
  assert.equal(judged(armored(bytes), ada.line('ada')).by, 'ada');
  for (let end = 1; end < bytes.length; end++)
    assert.throws(() => judged(armored(bytes.subarray(0, end)), ada.line('ada')), { name: 'SignatureRefusal' });
  const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
  assert.throws(() => judged(armored(longer), ada.line('ada')), invalid(/bytes after/));
  const huge = Buffer.from(bytes);
  huge.writeUInt32BE(0xffffffff, 10);
  assert.throws(() => judged(armored(huge), ada.line('ada')), invalid(/cut off/));
  bytes.writeUInt8(2, 9);
  assert.throws(() => judged(armored(bytes), ada.line('ada')), invalid(/unknown version/));
});

test('every bit of a signature that is changed makes it none', () => {
  const ada = sshSigner('ecdsa-sha2-nistp256');
  const line = ada.line('ada');
  const bytes = Buffer.from(ada.sign(payload).split('\n').slice(1, -2).join(''), 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[at] ?? 0) ^ (1 << (at % 8)), at);
    const text = `-----BEGIN SSH SIGNATURE-----\n${changed.toString('base64')}\n-----END SSH SIGNATURE-----\n`;
    assert.throws(() => judged(text, line), { name: 'SignatureRefusal' }, `byte ${at}`);
  }
});

test('a key counts in the time that its line says, as the commit states it', () => {
  const ada = sshSigner();
  const line = ada.line('ada', 'valid-after="20261101Z",valid-before="202611200000Z"');
  const within = Date.parse('2026-11-10T00:00:00Z') / 1000;
  assert.equal(judged(ada.sign(payload), line, { at: within }).by, 'ada');
  for (const time of ['2026-10-31T23:59:59Z', '2026-11-20T00:00:00Z'])
    assert.throws(
      () => judged(ada.sign(payload), line, { at: Date.parse(time) / 1000 }),
      invalid(/at a time when that was not valid/),
    );
  assert.throws(() => judged(ada.sign(payload), ada.line('ada'), { at: now + 3600 }), invalid(/in the future/));
});

test('a key with several lines counts by the one that holds', () => {
  const ada = sshSigner();
  const lines = [ada.line('old', 'valid-before=20200101Z'), ada.line('new', 'valid-after=20200101Z')].join('\n');
  assert.equal(judged(ada.sign(payload), lines).by, 'new');
});
