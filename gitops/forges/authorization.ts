import type { ForgeCredentials } from './credentials.ts';
import { ForgeError } from './error.ts';

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
