import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import { createAuthority } from '../../../reconcile/x509/issue.ts';
import { type Binaries, type EtcdVersion, etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { peerOf } from '../../unit/manifests/build-fixtures.ts';
import { asked, leafFor, life, startTlsMember } from './tls-member.ts';

/** A peer whose address the network rewrites: its certificate is for another one than the member sees. */

let binaries: Binaries;
before(async () => {
  binaries = await provisionBinaries();
});

const authority = await createAuthority({ commonName: 'peer CA', ...life });
const other = await createAuthority({ commonName: 'another CA', ...life });

for (const version of etcdVersions) {
  test(`etcd ${version} refuses a peer from an address that its certificate does not have`, async (t) => {
    const { url, ca } = await memberOf(t, version, undefined);
    assert.equal(await asked(url, ca, await leafFor('127.0.0.1', authority)), 200, 'from its own address it is heard');
    assert.match(String(await asked(url, ca, await leafFor('10.9.9.9', authority))), /ECONNRESET|hang up/);
  });

  test(`etcd ${version} takes it with peerSourceAddress: Any, and none of another CA`, async (t) => {
    const { url, ca } = await memberOf(t, version, 'Any');
    assert.equal(await asked(url, ca, await leafFor('10.9.9.9', authority)), 200);
    assert.match(
      String(await asked(url, ca, await leafFor('10.9.9.9', other))),
      /certificate|alert|ECONNRESET|hang up/,
    );
  });
}

async function memberOf(t: TestContext, version: EtcdVersion, peerSourceAddress: 'Any' | undefined) {
  const peer = peerOf({ version, tls: { mode: 'Managed', ...(peerSourceAddress && { peerSourceAddress }) } });
  const address = await startTlsMember(t, { binary: binaries.etcd[version], peer, authority });
  return { url: `https://${address}:2380/members`, ca: authority.certificate };
}
