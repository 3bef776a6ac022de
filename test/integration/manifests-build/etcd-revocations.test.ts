import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import { etcdArgs } from '../../../manifests/render/etcd-args.ts';
import { podHost, revocationsKey } from '../../../manifests/render/names.ts';
import { revocations } from '../../../manifests/render/revocations.ts';
import { tlsMountPath } from '../../../manifests/render/tls-files.ts';
import { createAuthority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peerPlan } from '../../unit/certificates/forge.ts';
import { clusterOf, peerOf } from '../../unit/manifests/build-fixtures.ts';
import { ownAddress, startEtcd } from './etcd-process.ts';

/** What etcd makes of the list of refused clients. */

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

const hour = 3_600_000;
const life = { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + hour) };
const authority = await createAuthority({ commonName: 'CA', ...life });
const [, clientPlan] = clusterLeaves('orders');
const [leaked, other] = await Promise.all([
  issueLeaf(clientPlan, authority, life),
  issueLeaf(clientPlan, authority, life),
]);
const serialOf = ({ certificate }: IssuedLeaf) => new X509Certificate(certificate).serialNumber;

for (const version of etcdVersions) {
  test(`etcd ${version} refuses listed clients at their next connection, without a restart, and no others`, async (t) => {
    const member = await memberOf(t, version);
    assert.equal(await member.askedBy(leaked), 200, 'an empty list refuses none');
    await member.refuse([serialOf(leaked)]);
    assert.match(String(await member.askedBy(leaked)), refused);
    assert.equal(await member.askedBy(other), 200);
    // As many as the API takes, in every length.
    const many = Array.from({ length: 998 }, (_, index) => (2n ** BigInt(index % 159) + BigInt(index)).toString(16));
    await member.refuse([...many, serialOf(leaked), serialOf(other)]);
    assert.match(String(await member.askedBy(leaked)), refused);
    assert.match(String(await member.askedBy(other)), refused);
    await member.refuse([]);
    assert.equal(await member.askedBy(leaked), 200);
  });

  test(`etcd ${version} refuses all clients where the list is missing: no pod may start without it`, async (t) => {
    const member = await memberOf(t, version);
    assert.equal(await member.askedBy(other), 200);
    await member.lose();
    assert.match(String(await member.askedBy(other)), refused);
  });
}

const refused = /alert|ECONNRESET|hang up|EPIPE/;

async function memberOf(t: TestContext, version: EtcdVersion) {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-etcd-revocations-'));
  const tls = join(directory, 'tls');
  const address = ownAddress();
  const own = await issueLeaf({ ...peerPlan, dnsNames: [], ipAddresses: [address] }, authority, life);
  const files = { 'tls.crt': own.certificate, 'tls.key': own.key, 'ca.crt': authority.certificate };
  for (const part of ['peer', 'server', 'revocations']) await mkdir(join(tls, part), { recursive: true });
  for (const part of ['peer', 'server'])
    for (const [file, text] of Object.entries(files)) await writeFile(join(tls, part, file), text);

  const list = join(tls, 'revocations', revocationsKey);
  /** As kubelet does it: the file is never seen half. */
  const refuse = async (revokedClientSerials: readonly string[]) => {
    const { binaryData } = revocations(clusterOf({ tls: { revokedClientSerials } }));
    await writeFile(`${list}.new`, Buffer.from(binaryData?.[revocationsKey] ?? '', 'base64'));
    await rename(`${list}.new`, list);
  };
  await refuse([]);

  const peer = peerOf({ version, tls: { mode: 'Managed', revocations: 'Listed' } });
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
  const process = startEtcd(binaries.etcd[version], args, {
    ...bootstrapVariables({ state: 'bootstrapping', initialCluster }, name),
  });
  t.after(async () => {
    await process.stop();
    await rm(directory, { recursive: true, force: true });
  });
  await process.ready();
  const askedBy = (leaf: IssuedLeaf) => asked(`https://${address}:2379/version`, leaf);
  return { askedBy, refuse, lose: () => rm(list) };
}

/** The status of an answer, or what is wrong with the connection. */
function asked(url: string, { certificate: cert, key }: IssuedLeaf): Promise<number | Error> {
  return new Promise((answer) => {
    const tls = { ca: authority.certificate, cert, key, agent: false, timeout: 10_000 };
    const sent = request(url, tls, (response) => {
      response.resume();
      answer(response.statusCode ?? 0);
    });
    sent.on('error', answer);
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.end();
  });
}
