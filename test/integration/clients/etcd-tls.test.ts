/**
 * The etcd client over mutual TLS against real etcd of every minor, and the name of each thing that can be wrong with
 * it.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { inspect } from 'node:util';
import type { Etcd, EtcdError, TlsProblem } from '../../../reconcile/interfaces/etcd.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import { startMembers } from './etcd-members.ts';
import { failing, open, within } from './etcd-membership-asking.ts';
import {
  authority,
  clientLeaf,
  future,
  leaf,
  past,
  startTlsMembers,
  type TlsMember,
  tlsFor,
} from './etcd-tls-members.ts';

const { etcd: binaries } = await provisionBinaries();
const trusted = await authority('clients');
const stranger = await authority('clients');
const ours = await clientLeaf(trusted);
const empty = { certificate: '', key: '' };

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 6 }, () => {
    test('three members are dialled by address and known by a name that only their certificate bears', async () => {
      await using cluster = await startTlsMembers(binaries[version], 3, trusted);
      using etcd = open(tlsFor(cluster.members, trusted.certificate, ours));
      const urls = cluster.members.map(({ url }) => url);
      const list = await until('the list', () => etcd.members(urls, within(2_000, { barrier: true })));
      const statuses = await Promise.all(urls.map((url) => etcd.status(url, within(5_000))));
      const ids = new Map(list.members.map(({ name, id }) => [name, id]));
      assert.deepEqual(
        statuses.map(({ memberId }) => memberId),
        cluster.members.map(({ name }) => ids.get(name)),
      );
      const minor = version.split('.').slice(0, 2).join('.');
      const versions = () => Promise.all(urls.map((url) => etcd.version(url, within(5_000))));
      await until('the cluster version', async () =>
        (await versions()).every(({ cluster }) => cluster === `${minor}.0`),
      );
      assert.ok((await versions()).every(({ server }) => server === version));
    });

    test('each thing that can be wrong with TLS has its own name, and nothing has reached etcd', async () => {
      await using cluster = await startTlsMembers(binaries[version], 1, trusted);
      const [member] = cluster.members;
      const good = await leaf(trusted, { dnsNames: [member.host] });
      for (const { what, problem, says, served, shown } of await defects(member)) {
        await member.present(served ?? good);
        using etcd = open(tlsFor([member], trusted.certificate, shown ?? ours));
        for (const call of callsOf(etcd, member.url)) {
          const error = await failing(call);
          assert.equal(error.tls, problem, `${what}: ${error.message}`);
          // A connection that was reset took the member's alert with it; what is found out later changes nothing for
          // the call.
          const outcomes = error.message.startsWith('GET /version') ? ['down', 'ambiguous'] : ['down'];
          assert.ok(outcomes.includes(error.outcome), `${what}: ${error.outcome}: ${error.message}`);
          assert.ok(
            error.message.includes(`at ${member.url}: `) && says.test(error.message),
            `${what}: ${error.message}`,
          );
          keepsQuiet(error, etcd);
        }
      }
      await member.present(good);
      using etcd = open(tlsFor([member], trusted.certificate, ours));
      await Promise.all(callsOf(etcd, member.url));

      await member.kill();
      // A client of its own: over an open connection, what was sent before it broke may have arrived.
      using late = open(tlsFor([member], trusted.certificate, ours));
      for (const call of callsOf(late, member.url)) {
        const error = await failing(call);
        assert.deepEqual([error.outcome, error.tls], ['down', undefined], error.message);
        assert.match(error.message, /ECONNREFUSED/);
      }
    });

    test('plaintext where TLS is expected, and TLS where plaintext is, are told from a dead member', async () => {
      await using plain = await startMembers(binaries[version], 1);
      await using secure = await startTlsMembers(binaries[version], 1, trusted);
      const [secret] = secure.members;
      const clear = plain.members[0]?.clientUrl ?? '';
      using etcd = open(tlsFor([secret], trusted.certificate, ours));
      for (const [url, problem] of [
        [clear.replace('http:', 'https:'), 'PlaintextOnTlsPort'],
        [secret.url.replace('https:', 'http:'), 'TlsOnPlaintextPort'],
      ] as const) {
        for (const call of callsOf(etcd, url)) {
          const error = await failing(call);
          assert.equal(error.tls, problem, error.message);
          assert.notEqual(error.outcome, 'refused');
        }
      }
      // What one client is told, it does not keep: each endpoint is asked as its scheme says.
      await Promise.all([...callsOf(etcd, clear), ...callsOf(etcd, secret.url)]);
    });
  });
}

test('a server certificate and key that do not belong together are named as such', async () => {
  await using cluster = await startTlsMembers(binaries['3.6.16'], 1, trusted);
  const [member] = cluster.members;
  const [one, other] = await Promise.all([1, 2].map(() => leaf(trusted, { dnsNames: [member.host] })));
  assert.ok(one && other);
  await member.present({ certificate: one.certificate, key: other.key });
  using etcd = open(tlsFor([member], trusted.certificate, ours));
  for (const call of callsOf(etcd, member.url)) {
    const error = await failing(call);
    assert.equal(error.tls, 'HandshakeFailed', error.message);
    assert.match(error.message, /do not belong together/);
  }
});

test('a member without TLS 1.3 says during the handshake what is wrong', async () => {
  await using cluster = await startTlsMembers(binaries['3.5.35'], 1, trusted, ['--tls-max-version=TLS1.2']);
  const [member] = cluster.members;
  for (const [shown, problem, says] of [
    [await clientLeaf(stranger), 'ClientCertificateRefused', /trusts none/],
    [await clientLeaf(trusted, past), 'ClientCertificateRefused', /renew it/],
    [empty, 'HandshakeFailed', /or it wants a client certificate/],
  ] as const) {
    using etcd = open(tlsFor([member], trusted.certificate, shown));
    for (const call of callsOf(etcd, member.url)) {
      const error = await failing(call);
      assert.equal(error.tls, problem, error.message);
      assert.match(error.message, says);
    }
  }
  using etcd = open(tlsFor([member], trusted.certificate, ours));
  await Promise.all(callsOf(etcd, member.url));
});

test('a member that hangs up after the handshake is probed once more, and named', async () => {
  const named = await leaf(trusted, { dnsNames: ['m0'] });
  const server = createTlsServer({ cert: named.certificate, key: named.key, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {}).destroy();
  });
  const address = ownAddress();
  server.listen(0, address);
  await once(server, 'listening');
  try {
    const { port } = server.address() as { port: number };
    const { certificate: cert, key } = ours;
    using etcd = open({ ca: trusted.certificate, cert, key, serverName: () => 'm0' });
    const error = await failing(etcd.status(`https://${address}:${port}`, within(5_000)));
    assert.deepEqual([error.outcome, error.tls], ['down', 'HandshakeFailed'], error.message);
    assert.match(error.message, /right after the handshake/);
  } finally {
    server.close();
  }
});

test('a frozen member is no TLS problem', async () => {
  await using silent = await frozenListener(511);
  const { certificate: cert, key } = ours;
  using etcd = open({ ca: trusted.certificate, cert, key, serverName: () => 'm0' });
  for (const scheme of ['http', 'https']) {
    const url = `${scheme}://${silent.at}`;
    const signal = AbortSignal.timeout(300);
    const calls = [etcd.status(url, { signal }), etcd.members([url], { signal }), etcd.version(url, { signal })];
    for (const call of calls) call.catch(() => {});
    for (const call of calls) {
      const error = await failing(call);
      assert.deepEqual([error.outcome, error.tls], ['ambiguous', undefined], error.message);
    }
  }
});

const halves = { certificate: ours.certificate, key: (await clientLeaf(trusted)).key };
for (const [what, tls, says] of [
  ['a key that is not that of the certificate', { shown: halves }, /the key is not that of the certificate/],
  ['a certificate without its key', { shown: { ...ours, key: '' } }, /a certificate was given alone/],
  ['a key that is none', { shown: { ...ours, key: 'SECRET' } }, /can not be read/],
  ['a trust bundle without a certificate', { shown: ours, ca: 'nothing' }, /trust bundle holds no certificate/],
  [
    'an empty trust bundle, which Node takes for all public authorities',
    { shown: ours, ca: '' },
    /holds no certificate/,
  ],
] as const) {
  test(`with ${what}, no member is asked`, async () => {
    const { shown, ca = trusted.certificate }: { shown: typeof ours; ca?: string } = tls;
    using etcd = open({ ca, cert: shown.certificate, key: shown.key, serverName: () => 'm0' });
    for (const call of callsOf(etcd, 'https://127.0.0.1:1')) {
      const error = await failing(call);
      assert.deepEqual([error.outcome, error.tls], ['down', 'HandshakeFailed']);
      assert.match(error.message, says);
      keepsQuiet(error, etcd);
    }
  });
}

test('an https endpoint is not asked without certificates', async () => {
  using etcd = open();
  for (const call of callsOf(etcd, 'https://127.0.0.1:1')) {
    assert.match((await failing(call)).message, /no certificates for it are known/);
  }
});

test('a dead endpoint beside one with a TLS problem leaves the list without a single reason', async () => {
  await using cluster = await startTlsMembers(binaries['3.6.16'], 1, trusted);
  const [{ url }] = cluster.members;
  using etcd = open(tlsFor(cluster.members, stranger.certificate, ours));
  const dead = `https://${ownAddress()}:2379`;
  assert.equal((await failing(etcd.members([url], within(2_000)))).tls, 'WrongAuthority');
  const both = await failing(etcd.members([dead, url], within(2_000)));
  assert.equal(both.tls, undefined);
  assert.ok(both.message.includes('ECONNREFUSED') && both.message.includes('authority'), both.message);
});

test('an endpoint that hangs up is probed once per failed call, and is no TLS problem', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.resume().once('data', () => socket.destroy());
  });
  const address = ownAddress();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  try {
    const { port } = server.address() as { port: number };
    const tls = { ca: trusted.certificate, cert: ours.certificate, key: ours.key, serverName: () => 'm0' };
    for (const scheme of ['http', 'https']) {
      using etcd = open(tls);
      connections = 0;
      const error = await failing(etcd.version(`${scheme}://${address}:${port}`, within(3_000)));
      assert.deepEqual([error.outcome, error.tls], ['ambiguous', undefined], error.message);
      // The call's own; the look; and over https, whether it speaks plaintext.
      assert.ok(connections <= 3, `${connections} connections`);
    }
  } finally {
    server.close();
  }
});

// gRPC keeps a socket whose handshake is not done also when it is closed, and such a process never ended.
for (const [what, backlog] of [
  ['a frozen member, where no handshake gets done', 511],
  ['a host that is gone, where nothing is accepted', 1],
] as const) {
  test(`a process ends after close, at whatever moment and whatever is still asked of ${what}`, async () => {
    await using silent = await frozenListener(backlog);
    const clients = new URL('../../../reconcile/clients/', import.meta.url).href;
    const { certificate: cert, key } = ours;
    const script = `
      const { connectEtcd } = await import('${clients}etcd.ts');
      await import('${clients}etcd3.ts');
      const tls = { ...JSON.parse(process.env.TLS), serverName: () => 'm0' };
      const signal = new AbortController().signal;
      const moments = {
        microtask: () => Promise.resolve(),
        tick: () => new Promise((resolve) => process.nextTick(resolve)),
        turn: () => new Promise((resolve) => setImmediate(resolve)),
      };
      const results = [];
      for (const scheme of ['https', 'http'])
        for (const [moment, next] of Object.entries(moments))
          for (let wait = 0; wait < 20; wait += 1) {
            const etcd = connectEtcd({ callTimeoutMs: 60_000, tls });
            const url = scheme + '://${silent.at}';
            const calls = [etcd.status(url, { signal }), etcd.members([url], { signal }), etcd.version(url, { signal })];
            results.push(...calls.map((call) => call.catch(({ message }) => message)));
            for (let waited = 0; waited < wait; waited += 1) await next();
            etcd.close();
          }
      const other = (await Promise.all(results)).find((message) => !/the etcd client was closed/.test(message));
      if (other !== undefined) throw new Error('instead of being closed: ' + other);
    `;
    const env = { ...process.env, TLS: JSON.stringify({ ca: trusted.certificate, cert, key }) };
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'inherit' });
    // What gRPC keeps would hold it for two minutes, or for good.
    const ended = once(child, 'close', { signal: AbortSignal.timeout(30_000) });
    const [code] = await ended.finally(() => child.kill('SIGKILL'));
    assert.equal(code, 0);
  });
}

/** A listener that is stopped, so that the kernel alone answers, and only as many as its backlog holds. */
async function frozenListener(backlog: number): Promise<AsyncDisposable & { readonly at: string }> {
  const address = ownAddress();
  const script = `
    const server = require('node:net').createServer();
    server.listen({ host: '${address}', port: 0, backlog: ${backlog} }, () => {
      process.stdout.write(String(server.address().port), () => process.kill(process.pid, 'SIGSTOP'));
    });
  `;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
  const fillers = Array.from({ length: backlog === 1 ? 8 : 0 }, () =>
    connect({ host: address, port: Number(port) }).on('error', () => {}),
  );
  const stop = async () => {
    for (const filler of fillers) filler.destroy();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { at: `${address}:${port}`, [Symbol.asyncDispose]: stop };
}

test('a pass shakes hands with each member once for all its calls, and once for the version', async () => {
  await using cluster = await startTlsMembers(binaries['3.6.16'], 1, trusted);
  const [{ address, host }] = cluster.members;
  let connections = 0;
  const door = createServer((socket) => {
    connections += 1;
    const through = connect({ host: address, port: 2379 });
    socket.on('error', () => through.destroy()).pipe(through);
    through.on('error', () => socket.destroy()).pipe(socket);
  });
  const at = ownAddress();
  door.listen(0, at);
  await once(door, 'listening');
  try {
    const { port } = door.address() as { port: number };
    const url = `https://${at}:${port}`;
    const tls = { ca: trusted.certificate, cert: ours.certificate, key: ours.key, serverName: () => host };
    using etcd = open(tls);
    await Promise.all(callsOf(etcd, url));
    assert.equal(connections, 2);
    // A call that is given up, as by a faster member's answer, leaves the others their connection.
    const given = new AbortController();
    const up = etcd.members([url], { signal: given.signal, barrier: true });
    given.abort(new Error('enough'));
    await failing(up);
    await etcd.status(url, within(5_000));
    assert.ok(connections <= 3, `${connections} connections`);
  } finally {
    door.close();
  }
});

interface Defect {
  readonly what: string;
  readonly problem: TlsProblem;
  readonly says: RegExp;
  readonly served?: Awaited<ReturnType<typeof leaf>>;
  readonly shown?: Awaited<ReturnType<typeof leaf>>;
}

async function defects({ host }: TlsMember): Promise<readonly Defect[]> {
  const named = { dnsNames: [host] };
  return [
    { what: 'expired', problem: 'CertificateExpired', says: /has expired/, served: await leaf(trusted, named, past) },
    {
      what: 'early',
      problem: 'CertificateNotYetValid',
      says: /not valid yet/,
      served: await leaf(trusted, named, future),
    },
    {
      what: 'wrong CA',
      problem: 'WrongAuthority',
      says: /no authority in our ca\.crt/,
      served: await leaf(stranger, named),
    },
    {
      what: 'wrong name',
      problem: 'NameMismatch',
      says: new RegExp(`not for ${host} .*DNS:another\\.name`),
      served: await leaf(trusted, { dnsNames: ['another.name'] }),
    },
    {
      what: 'only for clients',
      problem: 'HandshakeFailed',
      says: /must be made for server authentication/,
      served: await leaf(trusted, { ...named, usages: ['clientAuth'] }),
    },
    { what: 'no client certificate', problem: 'ClientCertificateRefused', says: /was given none/, shown: empty },
    {
      what: 'client certificate of another CA',
      problem: 'ClientCertificateRefused',
      says: /trusts none of the certificate's authorities/,
      shown: await clientLeaf(stranger),
    },
    {
      what: 'expired client certificate',
      problem: 'ClientCertificateRefused',
      says: /refused our client certificate .* valid from .* to .*: renew it/,
      shown: await clientLeaf(trusted, past),
    },
    {
      what: 'server certificate shown as a client',
      problem: 'ClientCertificateRefused',
      says: /must be made for client authentication/,
      shown: await leaf(trusted, { usages: ['serverAuth'] }),
    },
  ];
}

/** Nothing of a certificate or a key, however deep one looks. */
function keepsQuiet(error: EtcdError, etcd: Etcd): void {
  const printed = inspect([error, etcd], { depth: 20, showHidden: true, maxStringLength: null });
  for (const word of [
    'BEGIN',
    'PRIVATE',
    'SECRET',
    'raw:',
    'pubkey',
    ours.key.slice(40, 80),
    ours.certificate.slice(40, 80),
  ])
    assert.ok(!printed.includes(word), `${word} in ${printed}`);
}

function callsOf(etcd: Etcd, url: string): readonly Promise<unknown>[] {
  const calls = [
    etcd.status(url, within(5_000)),
    etcd.members([url], within(5_000, { barrier: true })),
    etcd.version(url, within(5_000)),
  ];
  // They run beside each other, and each is looked at when its turn comes.
  for (const call of calls) call.catch(() => {});
  return calls;
}
