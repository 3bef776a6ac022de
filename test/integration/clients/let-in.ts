import { request } from 'node:https';
import type { IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import type { TlsMember } from './etcd-tls-members.ts';

/** Whether a member lets a certificate in, at either port. */

/** A TLS alert of the member, or the end that comes with it. */
export const refused = /alert|ECONNRESET|EPIPE|socket hang up/;

const requests = {
  /** Reads a key through the HTTP gateway. */
  client: { port: 2379, path: '/v3/kv/range', method: 'POST' },
  /** Needs no gateway. */
  version: { port: 2379, path: '/version', method: 'GET' },
  /** The list of members, as peers read it. */
  peer: { port: 2380, path: '/members', method: 'GET' },
} as const;

/** The status of the answer, or why there is none. `ca`: it verifies the member. */
export function asks(
  { address, host }: TlsMember,
  what: keyof typeof requests,
  { certificate: cert, key }: IssuedLeaf,
  ca?: string,
): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const verifies = ca === undefined ? { rejectUnauthorized: false } : { ca };
  const asked = request(
    { ...requests[what], ...verifies, host: address, servername: host, cert, key, agent: false, timeout: 10_000 },
    (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    },
  );
  asked.on('error', ({ message }) => resolve(message));
  asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
  asked.end(what === 'client' ? JSON.stringify({ key: 'aw==' }) : undefined);
  return promise;
}
