/**
 * Two tenants and an issuer that both may ask, on real etcd of each minor: what the other tenant's certificates open,
 * of a cluster with CAs of its own and of one without.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { intermediateKey } from '../../../reconcile/x509/intermediate.ts';
import type { Authority, IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import { authorityData, authorityOf } from '../../../reconcile/x509/secret-data.ts';
import { intermediateOf, type Naming, rootAuthority } from '../../e2e/support/signed-requests.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { authority, clientLeaf, leaf, startTlsMembers } from './etcd-tls-members.ts';
import { asks, refused } from './let-in.ts';

const { etcd: binaries } = await provisionBinaries();
const second = (time: number) => new Date(Math.floor(time / 1000) * 1000);
const years = { notBefore: second(Date.now() - 86_400_000), notAfter: second(Date.now() + 3650 * 86_400_000) };
const company = rootAuthority('company', years);
/** What the victim's client CA is, and that of the other tenant's cluster: both signed by the company as well. */
const [own, others] = [await signedByCompany('orders'), await signedByCompany('mine')];

/** As `take-intermediate` leaves it in the Secret of a CA. */
async function signedByCompany(name: string, naming?: Naming): Promise<Authority> {
  const made = await authority(name);
  const data = authorityData(made, [made.certificate]);
  return authorityOf({ ...data, [intermediateKey]: intermediateOf(made, company, years, naming) });
}

const peer = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] } as const;
/** All that the other tenant can come by. */
const crossings: Readonly<Record<string, IssuedLeaf>> = {
  "an application's certificate of the shared issuer": await leaf(company, { usages: ['clientAuth'] }),
  "a reconciler's certificate of the shared issuer, CN root": await clientLeaf(company),
  "a member's certificate of the shared issuer": await leaf(company, peer),
  "a certificate of the other cluster's own CA, which the issuer signed": await clientLeaf(others),
  "a member's certificate of that CA": await leaf(others, { purpose: 'server', ...peer }),
  'a certificate that claims the name of the CA': await clientLeaf(await authority('orders')),
};

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 2 }, () => {
    test('a cluster with CAs of its own refuses all that the shared issuer vouches for', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, own);
      const [member] = cluster.members;
      await member.present(await leaf(own, { dnsNames: [member.host] }));
      assert.equal(await asks(member, 'client', await clientLeaf(own)), 200, 'its own clients get in');
      for (const [what, shown] of Object.entries(crossings)) {
        for (const port of ['client', 'peer'] as const) {
          assert.match(String(await asks(member, port, shown)), refused, `${what}, at the ${port} port`);
        }
      }
    });

    // OpenSSL looks at what a leaf calls its issuer's key; Go does not.
    for (const naming of ['sha256', 'sha1'] as const) {
      test(`and clients that trust nothing but the issuer verify its members (${naming})`, async () => {
        const signed = await signedByCompany('orders', naming);
        await using cluster = await startTlsMembers(binaries[version], 1, signed);
        const [member] = cluster.members;
        const mine = await clientLeaf(signed);
        for (const ca of [company.certificate, signed.certificate]) {
          await member.present(await leaf(signed, { dnsNames: [member.host] }));
          assert.equal(await asks(member, 'client', mine, ca), 200);
          const { intermediate: _, ...unsigned } = signed;
          await member.present(await leaf(unsigned, { dnsNames: [member.host] }));
          const without = String(await asks(member, 'client', mine, ca));
          assert.match(without, ca === signed.certificate ? /^200$/ : /unable to/);
        }
      });
    }

    test('without one, each certificate of the shared issuer reads the data, or is a member’s', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, company, [], { authority: company });
      const [member] = cluster.members;
      const opened = Object.entries(crossings).slice(0, 4);
      for (const [what, shown] of opened) assert.equal(await asks(member, 'client', shown), 200, what);
      const ofMember = crossings["a member's certificate of the shared issuer"];
      assert.ok(ofMember);
      assert.equal(await asks(member, 'peer', ofMember), 200);
    });
  });
}
