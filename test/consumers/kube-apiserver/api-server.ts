import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { type Daemon, startDaemon, untilReady } from '../../support/cluster/daemon.ts';

/** A kube-apiserver that keeps its objects in an etcd cluster of ours. Nothing else of Kubernetes runs on it. */
export interface ConsumingApiServer extends AsyncDisposable {
  /** JSON of a request, with the rights of an administrator. @throws {Error} with the status unless it is 2xx */
  ask(
    path: string,
    init?: { readonly method: string; readonly body: unknown; readonly type?: string },
  ): Promise<unknown>;
  /** Why it ended, once it did. */
  readonly ended: Promise<string>;
}

export interface EtcdOfConsumer {
  readonly url: string;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Of one request, in milliseconds. */
const patience = 5_000;
const port = 16_443;

/**
 * Resolves when it is ready.
 *
 * @param directory takes its certificates, token and log
 * @throws with the last lines of its log
 */
export async function startConsumer(
  binary: string,
  directory: string,
  etcd: EtcdOfConsumer,
): Promise<ConsumingApiServer> {
  const file = (name: string) => join(directory, name);
  const token = randomBytes(24).toString('base64url');
  await writeFile(file('tokens.csv'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  await writeFile(file('etcd-ca.crt'), etcd.ca);
  await writeFile(file('etcd.crt'), etcd.cert);
  await writeFile(file('etcd.key'), etcd.key, { mode: 0o600 });
  const daemon = startDaemon(binary, flags(file, etcd.url), file('consumer.log'));
  const ask = asker(token, () => readFile(file('apiserver.crt'), 'utf8'));
  try {
    await untilReady(daemon, async () => (await ask('/readyz')) !== undefined);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
  return { ask, ended: daemon.ended, [Symbol.asyncDispose]: () => stop(daemon) };
}

/** Without its etcd it does not end by SIGTERM soon. */
function stop(daemon: Daemon): Promise<void> {
  return daemon.stop(1_000);
}

function flags(file: (name: string) => string, etcdUrl: string): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--etcd-cafile=${file('etcd-ca.crt')}`,
    `--etcd-certfile=${file('etcd.crt')}`,
    `--etcd-keyfile=${file('etcd.key')}`,
    '--bind-address=127.0.0.1',
    // Nothing listens there (RFC 5737): it takes no loopback address.
    '--advertise-address=192.0.2.1',
    `--secure-port=${port}`,
    // Its Service `kubernetes` needs no endpoints: nothing connects by it.
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.97.0.0/16',
    `--cert-dir=${file('.')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${file('apiserver.key')}`,
    `--service-account-signing-key-file=${file('apiserver.key')}`,
    '--profiling=false',
    '--v=1',
  ];
}

function asker(token: string, ca: () => Promise<string>): ConsumingApiServer['ask'] {
  return async (path, { method, body, type } = { method: 'GET', body: undefined }) => {
    const trusted = await ca();
    const headers = { authorization: `Bearer ${token}`, 'content-type': type ?? 'application/json' };
    const verified = { ca: trusted, servername: 'kubernetes.default.svc' };
    const options = { ...verified, host: '127.0.0.1', port, path, method, headers, agent: false, timeout: patience };
    return await new Promise((resolve, reject) => {
      const asked = request(options, async (response) => {
        try {
          const said = Buffer.concat(await Array.fromAsync(response)).toString();
          const status = response.statusCode ?? 0;
          if (status >= 300) reject(new Error(`${method} ${path}: ${status} ${said.slice(0, 300)}`));
          else resolve(said.startsWith('{') ? JSON.parse(said) : said);
        } catch (error) {
          reject(error);
        }
      });
      asked.on('timeout', () => asked.destroy(new Error(`${method} ${path}: no answer within ${patience} ms`)));
      asked.on('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  };
}
