import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { etcdArgs } from '../../../manifests/render/etcd-args.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { tlsMountPath } from '../../../manifests/render/tls-files.ts';
import { createAuthority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peerPlan } from '../../unit/certificates/forge.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import { ownAddress, startEtcd } from './etcd-process.ts';

/** A peer whose address the network rewrites: its certificate is for another one than the member sees. */

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

const hour = 3_600_000;
const life = { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + hour) };
const authority = await createAuthority({ commonName: 'peer CA', ...life });
const other = await createAuthority({ commonName: 'another CA', ...life });
const leafFor = (address: string, by = authority) =>
  issueLeaf({ ...peerPlan, dnsNames: [], ipAddresses: [address] }, by, life);

for (const version of etcdVersions) {
  test(`etcd ${version} refuses a peer from an address that its certificate does not have`, async (t) => {
    const { url, ca } = await memberOf(t, version, undefined);
    assert.equal(await asked(url, ca, await leafFor('127.0.0.1')), 200, 'from its own address it is heard');
    assert.match(String(await asked(url, ca, await leafFor('10.9.9.9'))), /ECONNRESET|hang up/);
  });

  test(`etcd ${version} takes it with peerSourceAddress: Any, and none of another CA`, async (t) => {
    const { url, ca } = await memberOf(t, version, 'Any');
    assert.equal(await asked(url, ca, await leafFor('10.9.9.9')), 200);
    assert.match(
      String(await asked(url, ca, await leafFor('10.9.9.9', other))),
      /certificate|alert|ECONNRESET|hang up/,
    );
  });
}

/** The status of an answer, or what is wrong with the connection. */
function asked(url: string, ca: string, { certificate: cert, key }: IssuedLeaf): Promise<number | Error> {
  return new Promise((answer) => {
    const sent = request(`${url}/members`, { ca, cert, key, agent: false, timeout: 10_000 }, (response) => {
      response.resume();
      answer(response.statusCode ?? 0);
    });
    sent.on('error', answer);
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.end();
  });
}

async function memberOf(t: TestContext, version: EtcdVersion, peerSourceAddress: 'Any' | undefined) {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-peers-'));
  const address = ownAddress();
  const own = await leafFor(address);
  for (const part of ['peer', 'server']) {
    const at = join(directory, 'tls', part);
    await mkdir(at, { recursive: true });
    const files = { 'tls.crt': own.certificate, 'tls.key': own.key, 'ca.crt': authority.certificate };
    for (const [file, text] of Object.entries(files)) await writeFile(join(at, file), text);
  }
  const tls = { mode: 'Managed', ...(peerSourceAddress && { peerSourceAddress }) } as const;
  const peer = peerOf({ version, tls });
  const { name, namespace = '' } = peer.metadata;
  const local = (text: string) =>
    text
      .replaceAll('0.0.0.0', address)
      .replaceAll(podHost(namespace, 'orders', name), address)
      .replaceAll(tlsMountPath, join(directory, 'tls'));
  const args = etcdArgs(peer).map((arg) =>
    arg.startsWith('--data-dir=') ? `--data-dir=${join(directory, 'data')}` : local(arg),
  );
  const url = `https://${address}:2380`;
  const initialCluster = [{ name, url }];
  const process = startEtcd(binaries.etcd[version], args, {
    ...bootstrapVariables({ state: 'bootstrapping', initialCluster }, name),
  });
  t.after(async () => {
    await process.stop();
    await rm(directory, { recursive: true, force: true });
  });
  await process.ready();
  return { url, ca: authority.certificate };
}
