import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import { revocationsKey } from '../../../manifests/render/names.ts';
import { revocations } from '../../../manifests/render/revocations.ts';
import { createAuthority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { clusterOf, peerOf } from '../../unit/manifests/build-fixtures.ts';
import { asked, life, startTlsMember } from './tls-member.ts';

/** What etcd makes of the list of refused clients. */

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

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
  let list = '';
  /** As kubelet does it: the file is never seen half. */
  const refuse = async (revokedClientSerials: readonly string[]) => {
    const { binaryData } = revocations(clusterOf({ tls: { revokedClientSerials } }));
    await writeFile(`${list}.new`, Buffer.from(binaryData?.[revocationsKey] ?? '', 'base64'));
    await rename(`${list}.new`, list);
  };
  const address = await startTlsMember(t, {
    binary: binaries.etcd[version],
    peer: peerOf({ version, tls: { mode: 'Managed', revocations: 'Listed' } }),
    authority,
    furnish: async (tls) => {
      await mkdir(join(tls, 'revocations'));
      list = join(tls, 'revocations', revocationsKey);
      await refuse([]);
    },
  });
  const askedBy = (leaf: IssuedLeaf) => asked(`https://${address}:2379/version`, authority.certificate, leaf);
  return { askedBy, refuse, lose: () => rm(list) };
}
