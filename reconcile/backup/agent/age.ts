/** Encryption with age. Loaded lazily as a whole. */

import { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter } from 'age-encryption';
import { BackupFailure } from '../../jobs/failure.ts';
import { kept } from './kept.ts';

/** @param recipients public keys, `age1…`: any of their owners can decrypt. @throws {BackupFailure} InvalidRequest */
export async function encrypted(
  chunks: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  const encrypter = new Encrypter();
  try {
    for (const recipient of recipients) encrypter.addRecipient(recipient);
  } catch {
    // Without the cause: it quotes what may be a private key that was put there by mistake.
    const cure =
      'the file of recipients must hold public keys, one a line, each like age1…: "age-keygen -y" prints them';
    throw new BackupFailure('InvalidRequest', `a recipient is no public key of age: ${cure}`);
  }
  return encrypter.encrypt(streamOf(chunks)) as Promise<AsyncIterable<Uint8Array>>;
}

/** @param identities private keys, `AGE-SECRET-KEY-1…`. @throws {BackupFailure} NoKey, CannotDecrypt */
export async function decrypted(
  chunks: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch {
    const cure = 'the file of identities must hold private keys, one a line, as "age-keygen" writes them';
    throw new BackupFailure('NoKey', `an identity is no private key of age: ${cure}`);
  }
  let failed: { readonly error: unknown } | undefined;
  const source = kept(chunks, (error) => {
    failed = { error };
  });
  const plain = await decrypter.decrypt(streamOf(source)).catch(() => {
    if (failed !== undefined) throw failed.error;
    const cure =
      'give the identity of one of its recipients; if it is the right one, the object was changed: use another backup';
    throw new BackupFailure('NoKey', `no identity opens the object: ${cure}`);
  });
  return opened(plain as unknown as AsyncIterable<Uint8Array>, () => failed);
}

async function* opened(
  plain: AsyncIterable<Uint8Array>,
  failed: () => { readonly error: unknown } | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* plain;
  } catch {
    const earlier = failed();
    if (earlier !== undefined) throw earlier.error;
    throw new BackupFailure(
      'CannotDecrypt',
      'the object was cut off or changed after it was encrypted: use another backup',
    );
  }
}

/** The types of the web and those of Node name the same thing twice. */
function streamOf(chunks: AsyncIterable<Uint8Array>): globalThis.ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks) as unknown as globalThis.ReadableStream<Uint8Array>;
}
