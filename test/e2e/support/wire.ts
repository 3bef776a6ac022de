import { X509Certificate } from 'node:crypto';
import { request as askPlainly } from 'node:http';
import { request as askSecurely } from 'node:https';
import type { Secret } from '../../../manifests/kube-types.ts';
import { servedFingerprint } from '../../../reconcile/clients/served-fingerprint.ts';

/**
 * Asks the ports of pods with Node's own HTTP and TLS: not by way of the code under test.
 */

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly path?: string;
  /** Sent with POST; GET without. */
  readonly body?: string;
  /** Of a user of etcd, sent as `Authorization`. */
  readonly token?: string;
  /** HTTPS; plain HTTP without. */
  readonly tls?: {
    readonly serverName: string;
    readonly ca: string;
    readonly cert?: string;
    readonly key?: string;
  };
}

/** What came back, or, where nothing did, the error's code and words. */
export type Answer = { readonly status: number; readonly body: string } | { readonly refused: string };

const patience = 5000;

export function ask({ host, port, path = '/', body, token, tls }: Target): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = token === undefined ? {} : { authorization: token };
  const common = { host, port, path, method, headers, agent: false, timeout: patience };
  return new Promise((resolve) => {
    const { serverName, ...credentials } = tls ?? { serverName: '' };
    const request = tls ? askSecurely({ ...common, ...credentials, servername: serverName }) : askPlainly(common);
    request.on('response', (response) => {
      let said = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        said += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: said }));
      response.on('error', (error) => resolve({ refused: error.message }));
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${patience} ms`)));
    request.on('error', (error: Error & { code?: string }) =>
      resolve({ refused: `${error.code ?? ''} ${error.message}`.trim() }),
    );
    request.end(body);
  });
}

/** Of the leaf in a Secret: SHA-256, as `shownAt` gives it. */
export function fingerprintIn(secret: Secret | undefined): string {
  const leaf = new X509Certificate(Buffer.from(secret?.data?.['tls.crt'] ?? '', 'base64'));
  return leaf.fingerprint256.replaceAll(':', '').toLowerCase();
}

/** What a port presents right now; `undefined` when nobody speaks TLS there. */
export function shownAt(host: string, port: number, serverName: string, secret: Secret): Promise<string | undefined> {
  const ca = textIn(secret, 'ca.crt');
  return servedFingerprint({ host, port, serverName, ca }, AbortSignal.timeout(patience));
}

export function textIn(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
}
