import { X509Certificate } from 'node:crypto';
import { GitError } from '../git/error.ts';

/** A Secret's `data`: base64. Every complaint names the key and never its value. */
export type SecretData = Readonly<Record<string, string>>;

/** One line of text under the first of these names that is there. @throws GitError InvalidCredentials */
export function word(data: SecretData, ...names: readonly string[]): string | undefined {
  const found = pick(data, names);
  if (!found) return undefined;
  const { name, bytes } = found;
  // `echo secret | base64` leaves an unintended line feed.
  const text = utf8(name, bytes).replace(/\r?\n$/, '');
  if (text === '') throw invalid(`${name} is empty`);
  if (/\p{Cc}/u.test(text)) throw invalid(`${name} contains a line break or another control character`);
  if (name === 'username' && text.includes(':')) throw invalid('username contains a colon, which HTTP does not allow');
  return text;
}

/** PEM certificates. @throws GitError InvalidCredentials */
export function authority(data: SecretData, ...names: readonly string[]): string | undefined {
  const found = pick(data, names);
  if (!found) return undefined;
  const { name, bytes } = found;
  const text = utf8(name, bytes);
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw invalid(`${name} holds no PEM certificate (-----BEGIN CERTIFICATE-----)`);
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch {
      throw invalid(`certificate ${index + 1} in ${name} cannot be read`);
    }
  }
  return certificates.join('\n');
}

/** Text of any number of lines. @throws GitError InvalidCredentials */
export function text(data: SecretData, name: string): string | undefined {
  const found = pick(data, [name]);
  return found && utf8(found.name, found.bytes);
}

function pick(
  data: SecretData,
  names: readonly string[],
): { readonly name: string; readonly bytes: Buffer } | undefined {
  const present = names.filter((name) => Object.hasOwn(data, name));
  const [name] = present;
  if (name === undefined) return undefined;
  if (present.length > 1) throw invalid(`${present.join(' and ')} mean the same: keep one of them`);
  const encoded: unknown = data[name];
  if (typeof encoded !== 'string' || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(encoded))
    throw invalid(`${name} is not base64`);
  return { name, bytes: Buffer.from(encoded, 'base64') };
}

function utf8(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid(`${name} is not UTF-8 text`);
  }
}

export function invalid(message: string): GitError {
  return new GitError('InvalidCredentials', `the Secret cannot be used: ${message}`);
}
