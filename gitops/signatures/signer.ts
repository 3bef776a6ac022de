import { openPgpSigner } from './openpgp/verify.ts';
import { invalid, SignatureRefusal, type Signer } from './refusal.ts';
import type { SignedObject } from './signed-object.ts';
import { fingerprintOf } from './ssh/key.ts';
import { readSshSignature } from './ssh/signature.ts';
import type { TrustedKeys } from './trusted-keys.ts';

/** Seconds by which the clock of a signer may be ahead of ours. */
const clockSkew = 600;

/**
 * The signer of an object, of those whose keys are trusted. @throws SignatureRefusal
 * @param now seconds since the epoch
 */
export function signerOf(object: SignedObject, trusted: TrustedKeys, now: number): Signer {
  const { signature, payload } = object;
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) return sshSigner(object, trusted, now);
  if (signature.startsWith('-----BEGIN PGP SIGNATURE-----'))
    return named(openPgpSigner(signature, payload, trusted.openPgp, now + clockSkew));
  if (signature.startsWith('-----BEGIN SIGNED MESSAGE-----'))
    throw invalid('is signed with an X.509 certificate, which is not supported');
  throw invalid('has a signature of an unknown format');
}

function sshSigner({ signature, payload, at }: SignedObject, { ssh }: TrustedKeys, now: number): Signer {
  const read = readSshSignature(signature, payload);
  const fingerprint = fingerprintOf(read.publicKey);
  const lines = ssh.get(read.publicKey.toString('base64'));
  const [first] = lines ?? [];
  if (!lines || !first)
    throw new SignatureRefusal('SignerNotTrusted', `is signed by SSH key ${fingerprint}, which is not trusted`);
  if (!first.key.isSignature(read.signature, read.signed))
    throw invalid(`has an SSH signature that is not one of it by key ${fingerprint}`);
  // git asks for the keys of the time that the object states: an SSH signature has none.
  if (at > now + clockSkew) throw invalid('states a time in the future');
  const line = lines.find(({ validAfter = 0, validBefore = Infinity }) => validAfter <= at && at < validBefore);
  if (!line) throw invalid(`is signed by SSH key ${fingerprint} at a time when that was not valid`);
  return named({ by: line.principals, key: fingerprint });
}

const longestName = 200;

/** A key's owner writes the name, so it is cut, and kept to one line. */
function named({ by, key }: Signer): Signer {
  const line = by
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return { by: line.slice(0, longestName).toWellFormed() || 'a key without a name', key };
}
