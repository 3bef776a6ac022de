import { Resolver } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../reconcile/backup/agent/free-port.ts';
import type { Access } from '../../e2e/support/client.ts';
import { startDaemon, untilReady } from '../../support/cluster/daemon.ts';
import { putCertificates } from '../certificates.ts';

/** CoreDNS that answers for `zone` from an etcd cluster of ours. */
export interface CoreDns extends AsyncDisposable {
  /** Once, and now: not from a cache of its own, not again where there is no answer. */
  addressOf(name: string): Promise<string>;
}

export const zone = 'skydns.local';

/** Where its plugin `etcd` looks for a name of the zone: the labels in turn. */
export function keyOf(name: string): string {
  return `/skydns/${`${name}.${zone}`.split('.').toReversed().join('/')}`;
}

/** Of one question, in milliseconds. */
const patience = 1_000;

/**
 * Resolves once it answers for that name.
 *
 * @throws with the last lines of its log
 */
export async function startCoreDns(binary: string, access: Access, known: string): Promise<CoreDns> {
  const directory = await mkdtemp(join(tmpdir(), 'coredns-'));
  const file = (name: string) => join(directory, name);
  await putCertificates(directory, access);
  const port = await freePort();
  const certificates = ['tls.crt', 'tls.key', 'ca.crt'].map(file).join(' ');
  const etcd = `etcd {\n  path /skydns\n  endpoint ${access.url}\n  tls ${certificates}\n}`;
  await writeFile(file('Corefile'), `${zone}:${port} {\nbind 127.0.0.1\nerrors\n${etcd}\n}\n`);
  const daemon = startDaemon(binary, ['-conf', file('Corefile')], file('coredns.log'));
  const end = async () => {
    await daemon.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const addressOf = async (name: string) => {
    const resolver = new Resolver({ timeout: patience, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    const [address = ''] = await resolver.resolve4(`${name}.${zone}`);
    return address;
  };
  try {
    await untilReady(daemon, async () => (await addressOf(known)) !== '');
  } catch (error) {
    await end();
    throw error;
  }
  return { addressOf, [Symbol.asyncDispose]: end };
}
