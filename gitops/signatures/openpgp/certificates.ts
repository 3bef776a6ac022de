import { invalid, SignatureRefusal } from '../refusal.ts';
import { type Packet, tags } from './packets.ts';
import { type PublicKey, readPublicKey } from './public-key.ts';
import { mayBeBy, maySign, readSignature, type Signature, types } from './signature.ts';

/** A key, or a subkey of one, as its owner says that it may be used. */
export interface SigningKey {
  readonly key: PublicKey;
  /** Of the key that it belongs to: itself, unless it is a subkey. */
  readonly primary: string;
  /** Its owner's, for people. */
  readonly userId: string;
  /** Seconds since the epoch, both: when it began to be valid, and when it ends. */
  readonly from: number;
  readonly until: number;
  /** Why nothing that it signs counts: a clause about an object that it signed. */
  readonly unusable?: string;
}

interface Signed {
  /** The user ID or subkey; absent: the primary key itself. */
  readonly packet?: Packet;
  readonly signatures: Signature[];
}

/** The keys of all certificates in these packets. @throws SignatureRefusal for what can't be read, or a private key */
export function signingKeysIn(packets: readonly Packet[]): readonly SigningKey[] {
  const keys: SigningKey[] = [];
  let start: number | undefined;
  for (const [index, { tag }] of [...packets, { tag: tags.publicKey }].entries()) {
    if (tag === tags.secretKey || tag === tags.secretSubkey)
      throw invalid('is a private key: export the public one (gpg --armor --export)');
    if (tag !== tags.publicKey) continue;
    if (start === undefined && index !== 0) throw invalid('does not begin with an OpenPGP public key');
    if (start !== undefined) keys.push(...keysOf(packets.slice(start, index)));
    start = index;
  }
  return keys;
}

function keysOf([first, ...others]: readonly Packet[]): readonly SigningKey[] {
  const primary = readPublicKey(first?.body ?? Buffer.alloc(0));
  const groups = grouped(others);
  const own = groups.filter(({ packet }) => packet?.tag !== tags.publicSubkey);
  const about = ownStatements(primary, own);
  const newest = latest(about.filter(({ signature }) => signature.keyFlags !== undefined));
  const userId = nameIn(about);
  const revoked = groups.some(({ packet, signatures }) => !packet && signatures.some((one) => revokes(one, primary)));
  const unusable = revoked
    ? `is signed by key ${primary.fingerprint}, which its owner revoked`
    : newest
      ? undefined
      : `is signed by key ${primary.fingerprint}, on which no own signature with an accepted hash says what it may do`;
  const span = spanOf(primary, newest?.signature);
  const mine = { key: primary, primary: primary.fingerprint, userId };
  const subkeys = groups.filter(({ packet }) => packet?.tag === tags.publicSubkey);
  return [
    limited({ ...mine, ...span }, unusable ?? withoutRight(primary, newest?.signature)),
    ...subkeys.map((group) => subkeyOf(group, mine, unusable, span.until)),
  ];
}

/** What follows a key: signatures belong to what stands before them. */
function grouped(packets: readonly Packet[]): readonly Signed[] {
  const groups: Signed[] = [{ signatures: [] }];
  for (const packet of packets) {
    const { tag, body } = packet;
    if (tag === tags.userId || tag === tags.userAttribute || tag === tags.publicSubkey)
      groups.push({ packet, signatures: [] });
    else if (tag === tags.signature) groups.at(-1)?.signatures.push(...readable(body));
    else if (tag !== tags.trust && tag !== tags.marker && tag !== tags.padding)
      throw invalid(`holds an OpenPGP packet of kind ${tag}, which is no part of a public key`);
  }
  return groups;
}

/** Others sign keys as they like: what is not understood says nothing, unless it would revoke. */
function readable(body: Buffer): readonly Signature[] {
  try {
    return [readSignature(body)];
  } catch (error) {
    const [, type = 0] = body;
    const isRevocation = type === types.keyRevocation || type === types.subkeyRevocation;
    if (error instanceof SignatureRefusal && !isRevocation) return [];
    throw error;
  }
}

interface Statement {
  readonly signature: Signature;
  readonly userId?: string;
}

/** What the owner says of the key: on the key itself, and on each user ID that is not revoked. */
function ownStatements(primary: PublicKey, groups: readonly Signed[]): readonly Statement[] {
  return groups.flatMap(({ packet, signatures }): Statement[] => {
    const wanted: readonly number[] = packet ? types.certifications : [types.directKey];
    const signed = Buffer.concat([primary.prefixed, ...(packet ? [prefixedUserId(packet)] : [])]);
    const valid = signatures.filter((one) => isSound(one, primary, signed));
    if (valid.some(({ type }) => type === types.certificationRevocation)) return [];
    const newest = latest(valid.flatMap((signature) => (wanted.includes(signature.type) ? [{ signature }] : [])));
    if (!newest) return [];
    return [{ ...newest, ...(packet?.tag === tags.userId && { userId: packet.body.toString('utf8') }) }];
  });
}

function prefixedUserId({ tag, body }: Packet): Buffer {
  const head = Buffer.from([tag === tags.userId ? 0xb4 : 0xd1, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function subkeyOf(
  { packet, signatures }: Signed,
  { key: primary, userId }: Pick<SigningKey, 'key' | 'userId'>,
  unusable: string | undefined,
  ends: number,
): SigningKey {
  const key = readPublicKey(packet?.body ?? Buffer.alloc(0));
  const signed = Buffer.concat([primary.prefixed, key.prefixed]);
  const bindings = signatures.filter((one) => one.type === types.subkeyBinding && isSound(one, primary, signed));
  const newest = latest(bindings.map((signature) => ({ signature })))?.signature;
  const span = spanOf(key, newest);
  const revoked = signatures.some((one) => one.type === types.subkeyRevocation && revokes(one, primary, signed));
  const why =
    unusable ??
    (revoked ? `is signed by subkey ${key.fingerprint}, which its owner revoked` : undefined) ??
    withoutRight(key, newest) ??
    (newest && isBoundBack(newest, key, signed)
      ? undefined
      : `is signed by subkey ${key.fingerprint}, which does not confirm that it belongs to its key`);
  return limited({ key, primary: primary.fingerprint, userId, ...span, until: Math.min(span.until, ends) }, why);
}

function withoutRight(key: PublicKey, statement: Signature | undefined): string | undefined {
  if (((statement?.keyFlags ?? 0) & maySign) !== 0) return undefined;
  return `is signed by key ${key.fingerprint}, whose owner does not say that it may sign`;
}

/** Without this, a key could claim another person's subkey, and its owner would pass for the signer. */
function isBoundBack({ embedded }: Signature, key: PublicKey, signed: Buffer): boolean {
  return embedded.some((body) => {
    const [back] = readable(body);
    return back?.type === types.primaryBinding && isSound(back, key, signed);
  });
}

/** By that key itself, of these bytes, and with a hash that counts. */
function isSound(signature: Signature, key: PublicKey, signed: Buffer): boolean {
  const { fingerprint, keyId } = signature.issuer;
  if ((fingerprint !== undefined || keyId !== undefined) && !mayBeBy(signature, key)) return false;
  return isBy(signature, key, signed, { refused: false });
}

/** @param counts how a signature counts that is refused, and not checked */
function isBy(signature: Signature, key: PublicKey, signed: Buffer, counts: { readonly refused: boolean }): boolean {
  try {
    return signature.isBy(key, signed);
  } catch (error) {
    if (error instanceof SignatureRefusal) return counts.refused;
    throw error;
  }
}

/** A revocation that can't be checked counts: of a revoker that the owner named, or over a hash that is refused. */
function revokes(signature: Signature, primary: PublicKey, signed = primary.prefixed): boolean {
  const { type } = signature;
  if (type !== types.keyRevocation && type !== types.subkeyRevocation) return false;
  return !mayBeBy(signature, primary) || isBy(signature, primary, signed, { refused: true });
}

function latest(all: readonly Statement[]): Statement | undefined {
  return all.toSorted((a, b) => b.signature.created - a.signature.created)[0];
}

function nameIn(statements: readonly Statement[]): string {
  const named = statements.filter(({ userId }) => userId !== undefined);
  return (named.find(({ signature }) => signature.isPrimaryUserId) ?? named[0])?.userId ?? '';
}

function spanOf(key: PublicKey, statement: Signature | undefined): Pick<SigningKey, 'from' | 'until'> {
  const { keyExpiresAfter } = statement ?? {};
  return { from: key.created, until: keyExpiresAfter === undefined ? Infinity : key.created + keyExpiresAfter };
}

function limited(key: SigningKey, unusable: string | undefined): SigningKey {
  return unusable === undefined ? key : { ...key, unusable };
}
