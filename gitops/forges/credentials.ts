import { createPrivateKey } from 'node:crypto';
import { authority, invalid, type SecretData, text, word } from '../net/secret-data.ts';
import { ForgeError } from './error.ts';

/** Our identity at a forge. Comes from a Secret; never printed. */
export type ForgeCredentials =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'app'; readonly appId: string; readonly installationId: string; readonly privateKey: string };

/** How people are told of them. */
const keys = {
  token: 'token',
  basic: 'username and password',
  app: 'appId, installationId and privateKey',
} as const satisfies Record<ForgeCredentials['kind'], string>;

/**
 * Reads a Secret's `data`: `token`, or `username` with `password`, or a GitHub App's `appId`, `installationId` and
 * `privateKey`, as the forge accepts; and `ca.crt` (also `caFile`) for an authority of one's own.
 * @throws GitError InvalidCredentials, naming the key and never its value
 */
export function forgeCredentialsFromSecret(
  data: SecretData,
  accepts: readonly ForgeCredentials['kind'][],
): { readonly credentials: ForgeCredentials; readonly caBundle?: string } {
  const caBundle = authority(data, 'ca.crt', 'caFile');
  return { credentials: credentialsIn(data, accepts), ...(caBundle === undefined ? {} : { caBundle }) };
}

function credentialsIn(data: SecretData, accepts: readonly ForgeCredentials['kind'][]): ForgeCredentials {
  const readers = { token: tokenIn, basic: basicIn, app: appIn };
  const found = accepts.map((kind) => readers[kind](data)).filter((credentials) => credentials !== undefined);
  const [credentials, other] = found;
  const wanted = accepts.map((kind) => keys[kind]).join(', or ');
  if (!credentials) throw invalid(`it lacks the keys that this forge takes: ${wanted}`);
  if (other) throw invalid(`both ${keys[credentials.kind]} and ${keys[other.kind]} are there: keep one of them`);
  return credentials;
}

function tokenIn(data: SecretData): ForgeCredentials | undefined {
  const token = word(data, 'token');
  if (token === undefined) return undefined;
  // It becomes part of a header, which bears nothing else; no forge makes others.
  if (!/^[\x21-\x7e]+$/.test(token)) throw invalid('token contains a space, or a character that is not ASCII');
  return { kind: 'token', token };
}

function basicIn(data: SecretData): ForgeCredentials | undefined {
  const username = word(data, 'username');
  const password = word(data, 'password');
  // A user name alone stands beside a token, for Git.
  if (password === undefined) return undefined;
  if (username === undefined) throw invalid('password is there, but username is missing');
  return { kind: 'basic', username, password };
}

function appIn(data: SecretData): ForgeCredentials | undefined {
  const names = ['appId', 'installationId', 'privateKey'];
  const missing = names.filter((name) => !Object.hasOwn(data, name));
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) throw invalid(`of ${keys.app}, ${missing.join(' and ')} is missing`);
  return {
    kind: 'app',
    appId: number(data, 'appId'),
    installationId: number(data, 'installationId'),
    privateKey: rsaKey(data),
  };
}

/** GitHub's numbers; newer Apps may be named by their client ID, which has letters. */
function number(data: SecretData, name: 'appId' | 'installationId'): string {
  const value = word(data, name) ?? '';
  const form = name === 'appId' ? /^[A-Za-z0-9._-]{1,64}$/ : /^\d{1,20}$/;
  if (!form.test(value)) throw invalid(`${name} is not as GitHub writes it: copy it from the App's settings`);
  return value;
}

function rsaKey(data: SecretData): string {
  const pem = text(data, 'privateKey') ?? '';
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {
    // said below, without a word of what the key says
  }
  throw invalid('privateKey is not an RSA private key in PEM: download a new one from the App’s settings');
}

/** The header for a token under the forge's own word for it, or for a user name with a password. */
export function basicOrToken(
  credentials: ForgeCredentials,
  scheme: 'Bearer' | 'token',
): () => { readonly authorization: string } {
  const authorization =
    credentials.kind === 'basic'
      ? basic(credentials.username, credentials.password)
      : `${scheme} ${tokenOf(credentials)}`;
  return () => ({ authorization });
}

/** @throws ForgeError InvalidForge for anything but a token; `openForge` rules that out */
export function tokenOf(credentials: ForgeCredentials): string {
  if (credentials.kind === 'token') return credentials.token;
  throw new ForgeError('InvalidForge', 'this forge takes a token: put it into the Secret, under the key token');
}

export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
