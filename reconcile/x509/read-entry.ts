import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { decodeBase64, maxPemBytes, type PemBlock, readPem } from './pem.ts';

/** More than any honest chain or trust bundle has. */
const maxCertificates = 16;

/** Problems say what is wrong with a Secret's key, never what is in it: not even a parser's words are handed on. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** All certificates under one key of a Secret, at least one. */
export function readCertificates(encoded: unknown): Read<readonly X509Certificate[]> {
  const reading = blocksOf(encoded);
  if ('problem' in reading) return reading;
  const blocks = reading.value;
  // In a trust bundle etcd takes every block for a certificate, and does not start when one is not.
  if (blocks.some(isPrivateKey)) {
    return { problem: 'holds a private key where only certificates belong: were tls.crt and tls.key swapped?' };
  }
  if (blocks.some(({ label }) => label !== 'CERTIFICATE')) {
    return { problem: 'holds a PEM block that is not a CERTIFICATE: take it out' };
  }
  if (blocks.length > maxCertificates) return { problem: `holds more than ${maxCertificates} certificates` };
  const certificates: X509Certificate[] = [];
  for (const { der } of blocks) {
    const certificate = parse(() => new X509Certificate(der));
    // OpenSSL passes over bytes after the end, Go does not.
    if (certificate === undefined || certificate.raw.length !== der.length) {
      return { problem: `holds a block that is no X.509 certificate (number ${certificates.length + 1})` };
    }
    certificates.push(certificate);
  }
  return { value: certificates };
}

/** The one private key under one key of a Secret. */
export function readPrivateKey(encoded: unknown): Read<KeyObject> {
  const reading = blocksOf(encoded);
  if ('problem' in reading) return reading;
  const [block, ...more] = reading.value.filter(isPrivateKey);
  if (block === undefined) {
    return reading.value.some(({ label }) => label === 'CERTIFICATE')
      ? { problem: 'holds a certificate where the private key belongs: were tls.crt and tls.key swapped?' }
      : { problem: 'holds no private key' };
  }
  // Each reader would take the first, but that cannot be intended.
  if (more.length > 0) return { problem: 'holds several private keys: keep the one that belongs to tls.crt' };
  if (block.label === 'ENCRYPTED PRIVATE KEY') {
    return { problem: 'is encrypted with a passphrase, which etcd cannot ask for: store it decrypted' };
  }
  const type = typeOfKey[block.label];
  if (type === undefined) return { problem: 'holds a private key of a kind that etcd cannot use: use ECDSA or RSA' };
  const key = parse(() => createPrivateKey({ key: Buffer.from(block.der), format: 'der', type }));
  return key === undefined ? { problem: 'holds a private key that cannot be read' } : { value: key };
}

const typeOfKey: Readonly<Record<string, 'pkcs8' | 'pkcs1' | 'sec1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
};

function isPrivateKey({ label }: PemBlock): boolean {
  return label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY');
}

function blocksOf(encoded: unknown): Read<readonly PemBlock[]> {
  if (typeof encoded !== 'string') return { problem: 'is not a string' };
  const tooLarge = { problem: `is larger than ${maxPemBytes / 1024} KiB` };
  // Three bytes are four characters: before anything is decoded.
  if (encoded.length > Math.ceil(maxPemBytes / 3) * 4) return tooLarge;
  const bytes = decodeBase64(encoded);
  if (bytes === undefined) return { problem: 'is not base64, as the data of a Secret must be' };
  if (bytes.length > maxPemBytes) return tooLarge;
  const text = bytes.toString('utf8');
  if (text.startsWith('LS0tLS1CRUdJTi')) return { problem: 'was base64-encoded twice: encode it once' };
  const reading = readPem(text);
  if (reading.kind === 'problem') return { problem: reading.problem };
  return reading.blocks.length === 0 ? { problem: 'holds no PEM block' } : { value: reading.blocks };
}

/** Without what a parser throws: its words are not ours, and the input may be a private key. */
function parse<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
