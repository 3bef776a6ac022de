import { authority, invalid, type SecretData, word } from '../net/secret-data.ts';
import type { GitCredentials } from './source.ts';

/**
 * Reads a Secret's `data`: `username` with `password`, or `token` (also `bearerToken`, as Flux calls it), and `ca.crt`
 * (also `caFile`) for an authority of one's own.
 * @throws GitError InvalidCredentials, naming the key and never its value
 */
export function credentialsFromSecret(data: SecretData): GitCredentials {
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
