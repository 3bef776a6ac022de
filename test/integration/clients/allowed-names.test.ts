/**
 * Two tenants and an issuer that signs whatever both ask, on real etcd of each minor: what the other tenant's
 * certificates open of a cluster that lets in its own names, by the flags that its members are rendered with.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createServer, type Server } from 'node:tls';
import { Etcd3 } from 'etcd3';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { clusterLeaves, memberLeaves, ownNamesOf } from '../../../manifests/render/certificate-names.ts';
import { etcdArgs } from '../../../manifests/render/etcd-args.ts';
import { etcdPeer } from '../../../manifests/render/peer.ts';
import type { IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import { rootAuthority } from '../../e2e/support/signed-requests.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { open, within } from './etcd-membership-asking.ts';
import { clientLeaf, leaf, startTlsMembers, type TlsMember, tlsFor } from './etcd-tls-members.ts';
import { asks, refused } from './let-in.ts';

const { etcd: binaries } = await provisionBinaries();
const second = (time: number) => new Date(Math.floor(time / 1000) * 1000);
const years = { notBefore: second(Date.now() - 86_400_000), notAfter: second(Date.now() + 3650 * 86_400_000) };
/** The one issuer, of all leaves of both tenants. */
const company = rootAuthority('company', years);

const place = { namespace: 'space', cluster: 'tls' };
const own = ownNamesOf(place);
const listed = 'app.shop.example.com';
const [reconcilers, applications] = clusterLeaves('tls', own);

/** Of etcd's flags those about names, as a member of this version is started with them. */
function nameFlags(version: string): readonly string[] {
  const certManager = { issuerRef: { name: 'company' }, allowedNames: 'Own', clientNames: [listed] } as const;
  const cluster: EtcdCluster = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'tls', namespace: 'space', uid: 'uid' },
    spec: { replicas: 1, version, storage: { size: '8Gi' }, tls: { mode: 'CertManager', certManager } },
  };
  const initialCluster = [{ name: 'tls-0', url: 'https://tls-0-0.tls-peers.space.svc:2380' }];
  const peer = etcdPeer(cluster, cluster.spec, 0, { token: 'token', initialCluster, state: 'New' });
  const flags = etcdArgs(peer).filter((arg) => /allowed-hostname|gateway/.test(arg));
  assert.equal(flags.length, 3);
  return flags;
}

/** Members of one issuer for both ports, whose leaves are as ours are. */
function startNamed(version: keyof typeof binaries, count: number, extra: readonly string[] = []) {
  const [{ dnsNames }] = memberLeaves({ ...place, own }, 'm0');
  const peers = { authority: company, dnsNames };
  return startTlsMembers(binaries[version], count, company, [...nameFlags(version), ...extra], peers);
}

/** All that the other tenant can come by, unless its issuer signs names that are not its own. */
async function crossings({ host }: TlsMember): Promise<Readonly<Record<string, IssuedLeaf>>> {
  const theirs = ownNamesOf({ namespace: 'theirs', cluster: 'tls' });
  const ipAddresses = ['127.0.0.1'];
  const bare = { dnsNames: [], ipAddresses: [] };
  return {
    'a client without names, CN root': await clientLeaf(company),
    'their reconciler': await leaf(company, clusterLeaves('tls', theirs)[0]),
    'a server of theirs': await leaf(company, memberLeaves({ namespace: 'com', cluster: 'app' }, 'app-0')[1]),
    'our own server, which is no client': await leaf(company, {
      ...memberLeaves({ ...place, own, dnsNames: [listed] }, 'tls-0')[1],
      ipAddresses,
    }),
    'a member without such a name': await leaf(company, { ...bare, dnsNames: [host], ipAddresses }),
    'a member of theirs': await leaf(company, { ...bare, dnsNames: [host, theirs.members], ipAddresses }),
    'the name as a common name': await leaf(company, { ...bare, commonName: own.clients }),
    'a wildcard above the name': await leaf(company, { ...bare, dnsNames: ['*.space.etcd-ratchet.invalid'] }),
  };
}

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 2 }, () => {
    test('with names, other certificates of the shared issuer open neither port, and ours do', async () => {
      await using cluster = await startNamed(version, 3);
      const [member] = cluster.members;
      for (const plan of [reconcilers, applications]) {
        using etcd = open(tlsFor(cluster.members, company.certificate, await leaf(company, plan)));
        const urls = cluster.members.map(({ url }) => url);
        const list = await until('the list', () => etcd.members(urls, within(2_000, { barrier: true })));
        assert.equal(list.members.length, 3);
      }
      assert.equal(await asks(member, 'version', await leaf(company, { dnsNames: [listed] })), 200, 'a listed client');
      const [{ dnsNames }] = memberLeaves({ ...place, own }, 'm0');
      assert.equal(await asks(member, 'peer', await leaf(company, { dnsNames, ipAddresses: ['127.0.0.1'] })), 200);
      for (const [what, shown] of Object.entries(await crossings(member)))
        for (const port of ['version', 'peer'] as const)
          assert.match(String(await asks(member, port, shown)), refused, `${what}, at ${port}`);
      // Clients are no members, and members no clients.
      assert.match(String(await asks(member, 'peer', await leaf(company, reconcilers))), refused);
      assert.match(String(await asks(member, 'version', await leaf(company, { dnsNames: [own.members] }))), refused);
    });

    test('a member gives nothing to one that it dials and that has not the name', async () => {
      await using cluster = await startNamed(version, 3);
      const [, , gone = assert.fail()] = cluster.members;
      await gone.kill();
      const base = { dnsNames: [gone.host], ipAddresses: [gone.address, '127.0.0.1'] };
      const without = await leaf(company, base);
      const named = await leaf(company, { ...base, dnsNames: [gone.host, own.members] });
      const ca = company.certificate;
      const server = createServer({ cert: without.certificate, key: without.key, ca });
      const outcomes = outcomesOf(server);
      server.listen(2380, gone.address);
      await until('some handshakes', () => outcomes.length > 3);
      for (const outcome of outcomes) assert.match(outcome, /alert|ECONNRESET|disconnected/);
      server.setSecureContext({ cert: named.certificate, key: named.key, ca });
      await until('a whole handshake', () => outcomes.includes('secure'));
      server.close();
    });

    test('with authentication on, the name of our certificate is a user with role root, and does all', async () => {
      await using cluster = await startNamed(version, 1);
      const [{ url, host }] = cluster.members;
      const ours = await leaf(company, reconcilers);
      using etcd = open(tlsFor(cluster.members, company.certificate, ours));
      await withUsers(url, host, ours);
      assert.equal((await etcd.members([url], within(10_000, { barrier: true }))).members.length, 1);
      const { memberId } = await etcd.status(url, within(10_000));
      await etcd.defragment(url, within(10_000, { memberId }));
      using app = open(tlsFor(cluster.members, company.certificate, await leaf(company, applications)));
      await assert.rejects(app.defragment(url, within(10_000, { memberId })), /permission|user name|user not/i);
    });

    // The limit that the documents tell: names are as good as what the issuer lets others ask for.
    test('who has the issuer sign the cluster’s own names gets in', async () => {
      await using cluster = await startNamed(version, 1);
      const [member] = cluster.members;
      for (const name of [own.clients, '*.tls.space.etcd-ratchet.invalid'])
        assert.equal(await asks(member, 'version', await leaf(company, { dnsNames: [name] })), 200, name);
      const stolen = await leaf(company, { dnsNames: [own.members], ipAddresses: ['127.0.0.1'] });
      assert.equal(await asks(member, 'peer', stolen), 200);
    });

    test('the HTTP gateway is off, and where it is on, it refuses itself', async () => {
      const ours = await leaf(company, applications);
      await using off = await startNamed(version, 1);
      assert.equal(await asks(off.members[0], 'client', ours), 404);
      await using on = await startNamed(version, 1, ['--enable-grpc-gateway=true']);
      assert.equal(await asks(on.members[0], 'client', ours), 503);
      await using before = await startTlsMembers(binaries[version], 1, company);
      assert.equal(await asks(before.members[0], 'client', ours), 200, 'without names it works');
    });
  });
}

/** As an admin does it: root, which etcd demands, and ours. */
async function withUsers(url: string, host: string, { certificate, key }: IssuedLeaf): Promise<void> {
  const pem = (text: string) => Buffer.from(text);
  const etcd = new Etcd3({
    hosts: url,
    credentials: { rootCertificate: pem(company.certificate), privateKey: pem(key), certChain: pem(certificate) },
    grpcOptions: { 'grpc.ssl_target_name_override': host },
  });
  for (const name of ['root', reconcilers.commonName ?? assert.fail('ours has a name')]) {
    await etcd.user(name).create('secret');
    await etcd.user(name).addRole('root');
  }
  await etcd.auth.authEnable();
  etcd.close();
}

/** What becomes of handshakes with a server: `secure`, or why it ended. */
function outcomesOf(server: Server): string[] {
  const outcomes: string[] = [];
  server.on('tlsClientError', ({ message }) => outcomes.push(message));
  server.on('secureConnection', (socket) => {
    socket.on('error', ({ message }) => outcomes.push(message));
    // A client has taken the certificate for good when it sends something.
    socket.once('data', () => outcomes.push('secure'));
  });
  return outcomes;
}
