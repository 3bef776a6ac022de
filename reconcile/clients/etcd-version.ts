import http from 'node:http';
import https from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { jsonIn } from '../../manifests/json.ts';
import { type EndpointVersion, EtcdError } from '../interfaces/etcd.ts';
import type { Secured } from './etcd-tls.ts';
import type { Limit } from './limit.ts';

const maxBytes = 64 * 1024;

/** `GET /version`, the only source of the cluster version. @throws {EtcdError} for an answer that is not etcd's */
export async function readVersion(endpoint: string, limit: Limit, own?: Secured): Promise<EndpointVersion> {
  const refused = (words: string) => new EtcdError(`GET /version at ${endpoint}: ${words}`, 'refused');
  const tls = own && { secureContext: own.context, servername: own.serverName(endpoint) };
  const { status, body } = await get(new URL('/version', endpoint), limit, tls);
  if (status !== 200) throw refused(`HTTP ${status}`);
  const { etcdserver, etcdcluster } = fieldsOf(body);
  if (typeof etcdserver !== 'string' || typeof etcdcluster !== 'string') throw refused('the answer is not etcd’s');
  return { server: etcdserver, cluster: etcdcluster };
}

function get(
  url: URL,
  { signal }: Limit,
  tls: ConnectionOptions | undefined,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    // agent: false closes the connection with the answer, so that nothing is left to keep the process.
    const options = { agent: false, signal, ...tls };
    const request = (url.protocol === 'https:' ? https : http).get(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) request.destroy(new Error(`the answer is larger than ${maxBytes} bytes`));
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

function fieldsOf(body: string): { readonly etcdserver?: unknown; readonly etcdcluster?: unknown } {
  return Object(jsonIn(body));
}
