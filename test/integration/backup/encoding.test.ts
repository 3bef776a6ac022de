/** Compression and encryption, with the real libraries, over a sound snapshot and over spoiled objects. */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { decoded, type Encoding, encoded, type Whole } from '../../../reconcile/backup/agent/encoding.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { agent, sha256, temporary } from './members.ts';
import { pieces, reasonOf, whole } from './store-contract.ts';

const identity = await generateX25519Identity();
const recipients = [await identityToRecipient(identity)];
const snapshot = (() => {
  const body = Buffer.concat([randomBytes(512 * 1000), Buffer.alloc(512 * 1000)]);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
})();

const encodings: readonly Encoding[] = (['none', 'gzip', 'zstd'] as const).flatMap((compression) => [
  { compression },
  { compression, recipients },
]);

for (const encoding of encodings) {
  const name = `${encoding.compression}${encoding.recipients ? ' and age' : ''}`;

  test(`${name}: what comes back is what was given, and the digest is that of the object`, async () => {
    let told: Whole | undefined;
    const object = await whole(
      encoded(pieces(snapshot), encoding, (found) => {
        told = found;
      }),
    );
    assert.deepEqual(told, { bytes: object.length, sha256: sha256(object) });
    assert.ok((await whole(decoded(pieces(object, 1000), [identity]))).equals(snapshot));
    if (encoding.recipients) {
      assert.equal(await reasonOf(whole(decoded(pieces(object), undefined))), 'NoKey');
      assert.equal(await reasonOf(whole(decoded(pieces(object), [await generateX25519Identity()]))), 'NoKey');
      assert.equal(object.indexOf(snapshot.subarray(0, 32)), -1);
    }
  });

  test(`${name}: an error on the way comes out as it is, on the way there and back`, async () => {
    const torn = new BackupFailure('Stalled', 'torn');
    const failing = async function* (bytes: Uint8Array) {
      yield* pieces(bytes.subarray(0, bytes.length / 2));
      throw torn;
    };
    const itself = (error: unknown) => error === torn;
    await assert.rejects(whole(encoded(failing(snapshot), encoding, () => assert.fail())), itself);
    const object = await whole(encoded(pieces(snapshot), encoding, () => undefined));
    await assert.rejects(whole(decoded(failing(object), [identity])), itself);
  });

  test(`${name}: an object that was cut off or changed is caught when it is fetched`, async () => {
    await using place = await temporary();
    const object = await whole(encoded(pieces(snapshot), encoding, () => undefined));
    const identityFile = join(place.path, 'identity');
    await writeFile(identityFile, `# created by a test\n${identity}\n`);
    const changed = Buffer.from(object);
    changed[Math.floor(object.length / 2)] = (changed[Math.floor(object.length / 2)] ?? 0) ^ 1;
    const reasons = new Set<unknown>();
    // Neither has a record: it is etcd's own checksum, or that of the encoding, which catches it.
    for (const [index, spoiled] of [
      object.subarray(0, object.length - 700),
      object.subarray(0, 700),
      changed,
    ].entries()) {
      await writeFile(join(place.path, `${index}.db`), spoiled);
      const file = join(place.path, `${index}.fetched`);
      const got = await agent({
        operation: 'fetch',
        object: `pvc://b/${index}.db`,
        store: { directory: place.path },
        file,
        identityFile,
      });
      assert.deepEqual([got.ok, got.exitCode], [false, got.reason === 'NoKey' ? 3 : 4], JSON.stringify(got));
      reasons.add(got.reason);
      await assert.rejects(readFile(file), { code: 'ENOENT' });
    }
    assert.equal(reasons.has('CannotDecrypt'), encoding.recipients !== undefined);
  });
}

test('a private key among the recipients is refused and not repeated', async () => {
  const failure = await whole(
    encoded(pieces(snapshot), { compression: 'none', recipients: [identity] }, () => assert.fail()),
  ).catch((error: unknown) => error);
  assert.ok(failure instanceof BackupFailure && failure.reason === 'InvalidRequest');
  assert.ok(!failure.message.includes(identity.slice(10, 30)) && failure.cause === undefined);
});
