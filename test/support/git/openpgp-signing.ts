import * as openpgp from 'openpgp';

export interface OpenPgpOptions {
  readonly name?: string;
  /** `ecc` and `rsa` as GnuPG makes them, the others as RFC 9580 has them. */
  readonly type?: 'ecc' | 'rsa' | 'curve25519' | 'curve448';
  readonly curve?: openpgp.EllipticCurveName;
  readonly rsaBits?: number;
  /** With a subkey that signs. */
  readonly subkey?: boolean;
  readonly created?: Date;
  /** Seconds. */
  readonly expiresAfter?: number;
  readonly v6?: boolean;
}

export interface OpenPgpSigner {
  readonly publicKey: string;
  readonly privateKey: openpgp.PrivateKey;
  /** An armored signature, as gpg makes it for git. */
  sign(payload: Buffer, at?: Date): Promise<string>;
}

/** A key pair and its signatures by another implementation of OpenPGP than ours. */
export async function openPgpKey(options: OpenPgpOptions = {}): Promise<OpenPgpSigner> {
  const { name = 'Ada', type = 'ecc', curve, rsaBits = 2048, subkey = false, expiresAfter = 0, v6 = false } = options;
  const { created = new Date('2026-10-01T00:00:00Z') } = options;
  const { privateKey } = await openpgp.generateKey({
    type,
    ...(type === 'ecc' && { curve: curve ?? 'ed25519Legacy' }),
    ...(type === 'rsa' && { rsaBits }),
    userIDs: [{ name, email: `${name.toLowerCase()}@example.com` }],
    subkeys: subkey ? [{ sign: true }] : [],
    date: created,
    keyExpirationTime: expiresAfter,
    format: 'object',
    config: { v6Keys: v6, minRSABits: 1024 },
  });
  return {
    privateKey,
    publicKey: privateKey.toPublic().armor(),
    sign: async (payload, at = new Date('2026-11-01T00:00:00Z')) =>
      String(
        await openpgp.sign({
          message: await openpgp.createMessage({ binary: payload }),
          signingKeys: privateKey,
          detached: true,
          date: at,
          config: { minRSABits: 1024 },
        }),
      ),
  };
}
