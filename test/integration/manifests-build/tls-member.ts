import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { etcdArgs } from '../../../manifests/render/etcd-args.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { tlsMountPath } from '../../../manifests/render/tls-files.ts';
import { type Authority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { peerPlan } from '../../unit/certificates/forge.ts';
import { ownAddress, startEtcd } from './etcd-process.ts';

const hour = 3_600_000;
export const life = { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + hour) };

/** A certificate of a member at this address. */
export function leafFor(address: string, authority: Authority): Promise<IssuedLeaf> {
  return issueLeaf({ ...peerPlan, dnsNames: [], ipAddresses: [address] }, authority, life);
}

interface MemberParts {
  readonly binary: string;
  readonly peer: EtcdPeer;
  /** Of both ports. */
  readonly authority: Authority;
  /** Makes what else is mounted beside the certificates. */
  readonly furnish?: (tls: string) => Promise<void>;
}

/** A single member under TLS, with the pod's own arguments, until the test ends. Resolves with its address. */
export async function startTlsMember(t: TestContext, { binary, peer, authority, furnish }: MemberParts) {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-tls-'));
  const tls = join(directory, 'tls');
  const address = ownAddress();
  const own = await leafFor(address, authority);
  for (const part of ['peer', 'server']) {
    const at = join(tls, part);
    await mkdir(at, { recursive: true });
    const files = { 'tls.crt': own.certificate, 'tls.key': own.key, 'ca.crt': authority.certificate };
    for (const [file, text] of Object.entries(files)) await writeFile(join(at, file), text);
  }
  await furnish?.(tls);
  const { name, namespace = '' } = peer.metadata;
  const local = (text: string) =>
    text
      .replaceAll('0.0.0.0', address)
      .replaceAll(podHost(namespace, 'orders', name), address)
      .replaceAll(tlsMountPath, tls);
  const args = etcdArgs(peer).map((arg) =>
    arg.startsWith('--data-dir=') ? `--data-dir=${join(directory, 'data')}` : local(arg),
  );
  const initialCluster = [{ name, url: `https://${address}:2380` }];
  const process = startEtcd(binary, args, {
    ...bootstrapVariables({ state: 'bootstrapping', initialCluster }, name),
  });
  t.after(async () => {
    await process.stop();
    await rm(directory, { recursive: true, force: true });
  });
  await process.ready();
  return address;
}

/** The status of an answer, or what is wrong with the connection. */
export function asked(url: string, ca: string, { certificate: cert, key }: IssuedLeaf): Promise<number | Error> {
  return new Promise((answer) => {
    const sent = request(url, { ca, cert, key, agent: false, timeout: 10_000 }, (response) => {
      response.resume();
      answer(response.statusCode ?? 0);
    });
    sent.on('error', answer);
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.end();
  });
}
