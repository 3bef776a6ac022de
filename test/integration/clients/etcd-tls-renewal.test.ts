/**
 * What etcd of every minor takes up without a restart, and what it does not: the ground under renewal and CA rotation.
 */

import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { type ServedOptions, servedCertificate } from '../../../reconcile/clients/tls-probe.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import { startMembers } from './etcd-members.ts';
import { failing, open, within } from './etcd-membership-asking.ts';
import { authority, clientLeaf, leaf, past, startTlsMembers, type TlsMember, tlsFor } from './etcd-tls-members.ts';

const { etcd: binaries } = await provisionBinaries();
const old = await authority('clients');
const next = await authority('clients', old);
const stranger = await authority('clients');
const ours = await clientLeaf(old);

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 6 }, () => {
    test('a renewed leaf is served at the very next handshake, and open connections go on', async (t) => {
      await using cluster = await startTlsMembers(binaries[version], 1, old);
      const [member] = cluster.members;
      using etcd = open(tlsFor([member], old.certificate, ours));
      const before = await etcd.status(member.url, within(5_000));

      const renewed = await leaf(old, { commonName: member.name, dnsNames: [member.host] });
      await member.present(renewed);
      const started = performance.now();
      const served = await look(member, 2379, old.certificate);
      t.diagnostic(
        `client port: the renewed leaf was seen ${(performance.now() - started).toFixed(1)} ms after its files`,
      );
      assert.deepEqual(served, { ...factsOf(renewed.certificate), authorized: true });
      assert.equal((await etcd.status(member.url, within(5_000))).memberId, before.memberId);

      const { peerAuthority } = cluster;
      const peers = await leaf(peerAuthority, { commonName: member.name, dnsNames: [member.host] });
      await member.presentToPeers(peers);
      const asked = performance.now();
      const toPeers = await look(member, 2380, peerAuthority.certificate);
      t.diagnostic(`peer port: the renewed leaf was seen ${(performance.now() - asked).toFixed(1)} ms after its files`);
      assert.deepEqual(toPeers, { ...factsOf(peers.certificate), authorized: true });
    });

    test('what a member presents is seen also when it is not to be trusted, and why', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, old);
      const [member] = cluster.members;
      const named = { dnsNames: [member.host] };
      for (const [problem, presented] of [
        ['CertificateExpired', await leaf(old, named, past)],
        ['WrongAuthority', await leaf(stranger, named)],
        ['NameMismatch', await leaf(old, { dnsNames: ['another.name'] })],
      ] as const) {
        await member.present(presented);
        for (const shown of [ours, await clientLeaf(stranger), undefined]) {
          const served = await look(member, 2379, old.certificate, shown);
          assert.deepEqual(served, { ...factsOf(presented.certificate), authorized: false, problem });
        }
      }
    });

    test('other trusted authorities are taken up by a restart and by nothing else', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, old);
      const [member] = cluster.members;
      const { certificate, key } = next;
      const shown = await clientLeaf({ certificate, key });
      const status = async () => {
        // A client of its own each time: an open connection would prove nothing.
        using etcd = open(tlsFor([member], old.certificate, shown));
        return await etcd.status(member.url, within(5_000));
      };
      assert.equal((await failing(status())).tls, 'ClientCertificateRefused');

      await member.trust(next.certificate + old.certificate);
      // The leaf is re-read at every handshake; that a new one is served proves that etcd has read its files since.
      const renewed = await leaf(old, { dnsNames: [member.host] });
      await member.present(renewed);
      const served = await look(member, 2379, old.certificate);
      assert.equal(served.fingerprint, factsOf(renewed.certificate).fingerprint);
      const error = await failing(status());
      assert.equal(error.tls, 'ClientCertificateRefused');
      assert.match(error.message, /reads the trusted ones only when it starts/);

      await member.restart();
      assert.notEqual((await status()).memberId, '0');
    });

    test('a leaf of the next CA with its cross certificate is accepted by both trusts', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, old);
      const [member] = cluster.members;
      const crossed = await leaf(next, { commonName: member.name, dnsNames: [member.host] });
      assert.equal(crossed.certificate.match(/BEGIN CERTIFICATE/g)?.length, 2);
      await member.present(crossed);
      await member.restart();
      for (const ca of [old.certificate, next.certificate, next.certificate + old.certificate]) {
        // Ours is of the next authority as well: the member, in Go, trusts only the old one.
        for (const shown of [ours, await clientLeaf(next)]) {
          using etcd = open(tlsFor([member], ca, shown));
          assert.notEqual((await etcd.status(member.url, within(5_000))).memberId, '0');
          await etcd.version(member.url, within(5_000));
        }
      }
    });

    test('a member with a peer leaf of the next CA is accepted by members that trust the old', async () => {
      await using cluster = await startTlsMembers(binaries[version], 3, old);
      const [first] = cluster.members;
      const peers = await authority('peers', cluster.peerAuthority);
      const ipAddresses = [first.address, '127.0.0.1'];
      const crossed = await leaf(peers, { commonName: first.name, ipAddresses });
      await first.presentToPeers(crossed);
      await first.restart();
      using etcd = open(tlsFor(cluster.members, old.certificate, ours));
      // Asked of the restarted member, behind a barrier: it hears from the leader, and the leader from it.
      const { members } = await until('the list', () => etcd.members([first.url], within(2_000, { barrier: true })));
      assert.equal(members.length, 3);
      const { fingerprint } = await look(first, 2380, cluster.peerAuthority.certificate);
      assert.equal(fingerprint, factsOf(crossed.certificate).fingerprint);
      await until('every other member to speak with it', async () => {
        const response = await fetch(`${first.metricsUrl}/metrics`, { signal: AbortSignal.timeout(2_000) });
        return (await response.text()).match(/^etcd_network_active_peers\{.*\} [1-9]/gm)?.length === 2;
      });
    });
  });
}

test('an address without a listener, or without TLS, gives an error and no certificate', async () => {
  await using plain = await startMembers(binaries['3.6.16'], 1);
  const clear = new URL(plain.members[0]?.clientUrl ?? '').hostname;
  const refused = await failing(servedCertificate(optionsFor(ownAddress(), 2379)));
  assert.deepEqual([refused.outcome, refused.tls], ['down', undefined]);
  assert.match(refused.message, /ECONNREFUSED/);
  const plaintext = await failing(servedCertificate(optionsFor(clear, 2379)));
  assert.equal(plaintext.outcome, 'down');
  assert.ok(plaintext.message.includes(`${clear}:2379`), plaintext.message);
});

test('a silent endpoint is given up in time, by the signal too, and nothing is left of it', async (t: TestContext) => {
  let open = 0;
  const server = createServer((socket) => {
    open += 1;
    socket
      .on('error', () => {})
      .on('close', () => {
        open -= 1;
      });
    socket.resume();
  });
  const address = ownAddress();
  server.listen(0, address);
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const gone = new AbortController();
  let listeners = 0;
  const { signal } = gone;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...what: Parameters<typeof add>) => {
    listeners += 1;
    return add(...what);
  };
  signal.removeEventListener = (...what: Parameters<typeof remove>) => {
    listeners -= 1;
    return remove(...what);
  };
  for (const [timeoutMs, says] of [
    [100, /no answer within 100 ms/],
    [60_000, /before it was given up \(enough\)/],
  ] as const) {
    const asked = failing(servedCertificate({ ...optionsFor(address, port), signal, timeoutMs }));
    if (timeoutMs > 100) {
      await until('the connection', async () => open > 0, { every: 5 });
      gone.abort(new Error('enough'));
    }
    assert.match((await asked).message, says);
    await until('the socket to close', async () => open === 0, { every: 5 });
  }
  assert.equal(listeners, 0);
});

function look(
  { address, host }: TlsMember,
  port: number,
  ca: string,
  shown: { readonly certificate: string; readonly key: string } | undefined = port === 2379 ? ours : undefined,
) {
  const own = shown && { cert: shown.certificate, key: shown.key };
  return servedCertificate({ ...optionsFor(address, port), serverName: host, ca, ...own });
}

function optionsFor(host: string, port: number): ServedOptions {
  const signal = AbortSignal.timeout(10_000);
  return { host, port, serverName: 'm0.invalid', ca: old.certificate, signal, timeoutMs: 5_000 };
}

function factsOf(pem: string) {
  const { raw, validToDate } = new X509Certificate(pem);
  return { fingerprint: createHash('sha256').update(raw).digest('hex'), notAfter: validToDate };
}
