import { X509Certificate } from 'node:crypto';
import { GitError } from './error.ts';
import type { GitCredentials } from './source.ts';

/**
 * Reads a Secret's `data`: `username` with `password`, or `token` (also `bearerToken`, as Flux calls it), and `ca.crt` (also
 * `caFile`) for an authority of one's own. Other keys are left alone.
 *
 * @throws GitError InvalidCredentials, naming the key and never its value
 */
export function credentialsFromSecret(data: Readonly<Record<string, string>>): GitCredentials {
  const username = word(data, 'username');
  const password = word(data, 'password');
  const token = word(data, 'token', 'bearerToken');
  const caBundle = authority(data, 'ca.crt', 'caFile');

  if (token !== undefined && password !== undefined) {
    throw invalid('both password and a token are there: keep one of them');
  }
  if (password !== undefined && username === undefined) throw invalid('password is there, but username is missing');
  if (username !== undefined && password === undefined && token === undefined) {
    throw invalid('username is there, but neither password nor token');
  }
  if (token === undefined && password === undefined && caBundle === undefined) {
    const ssh = ['identity', 'ssh-privatekey'].some((key) => Object.hasOwn(data, key));
    throw invalid(
      ssh
        ? 'it holds an SSH key, and SSH is not supported: use an HTTPS URL with username and password, or token'
        : 'it has none of the keys username and password, token, ca.crt',
    );
  }
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(token === undefined ? {} : { token }),
    ...(caBundle === undefined ? {} : { caBundle }),
  };
}

/** The token of a forge. @throws GitError InvalidCredentials, naming the key and never its value */
export function tokenFromSecret(data: Readonly<Record<string, string>>): string {
  const token = word(data, 'token');
  if (token === undefined) throw invalid('the key token is missing');
  return token;
}

function word(data: Readonly<Record<string, string>>, ...names: readonly string[]): string | undefined {
  const found = pick(data, names);
  if (!found) return undefined;
  const { name, bytes } = found;
  // `echo secret | base64` leaves a line feed that nobody means.
  const text = utf8(name, bytes).replace(/\r?\n$/, '');
  if (text === '') throw invalid(`${name} is empty`);
  if (/\p{Cc}/u.test(text)) throw invalid(`${name} contains a line break or another control character`);
  if (name === 'username' && text.includes(':')) throw invalid('username contains a colon, which HTTP does not allow');
  return text;
}

function authority(data: Readonly<Record<string, string>>, ...names: readonly string[]): string | undefined {
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

function pick(
  data: Readonly<Record<string, string>>,
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

function invalid(message: string): GitError {
  return new GitError('InvalidCredentials', `the Secret cannot be used: ${message}`);
}
