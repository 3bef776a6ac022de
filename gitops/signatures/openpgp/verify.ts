import { dearmor } from '../armor.ts';
import { invalid, SignatureRefusal, type Signer } from '../refusal.ts';
import type { SigningKey } from './certificates.ts';
import { packetsIn, tags } from './packets.ts';
import { mayBeBy, readSignature, type Signature, types } from './signature.ts';

/**
 * The owner of the key that signed this payload, of these keys. @throws SignatureRefusal
 * @param now seconds since the epoch, with what clocks may differ by
 */
export function openPgpSigner(armored: string, payload: Buffer, keys: readonly SigningKey[], now: number): Signer {
  const [packet, second] = packetsIn(dearmor(armored, 'PGP SIGNATURE'));
  if (packet?.tag !== tags.signature || second) throw invalid('has more than one OpenPGP signature, or none');
  const signature = readSignature(packet.body);
  if (signature.type !== types.binary) throw invalid('has an OpenPGP signature that is not one of bytes');
  const { fingerprint, keyId } = signature.issuer;
  const named = fingerprint ?? keyId;
  if (named === undefined) throw invalid('has an OpenPGP signature that does not say by which key');
  const candidates = keys.filter(({ key }) => mayBeBy(signature, key));
  if (candidates.length === 0)
    throw new SignatureRefusal('SignerNotTrusted', `is signed by OpenPGP key ${named}, which is not trusted`);
  const made = candidates.find(({ key }) => signature.isBy(key, payload));
  if (!made) throw invalid(`has an OpenPGP signature that is not one of it by key ${named}`);
  const why = made.unusable ?? outOfTime(signature, made, now);
  if (why !== undefined) throw invalid(why);
  return { by: made.userId, key: made.key.fingerprint };
}

/** As gpg judges it: the key must have been valid when it signed, and the signature must be now. */
function outOfTime(
  { created, expiresAfter }: Signature,
  { key, from, until }: SigningKey,
  now: number,
): string | undefined {
  if (created > now) return 'has a signature from the future';
  if (expiresAfter !== undefined && created + expiresAfter <= now) return 'has a signature that has expired';
  if (created < from) return `is signed by key ${key.fingerprint} before that was made`;
  if (created >= until) return `is signed by key ${key.fingerprint} after that had expired`;
  return undefined;
}
