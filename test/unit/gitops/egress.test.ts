import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { test } from 'node:test';
import { networkFrom, wrongSettings } from '../../../functions/environment.ts';
import { openForge } from '../../../gitops/forges/forges.ts';
import { connect } from '../../../gitops/git/http.ts';
import type { Network } from '../../../gitops/net/agent.ts';
import { assertAllowed, EgressError, strictEgress } from '../../../manifests/egress/egress.ts';

/** Fleets whose authors want to see what only this machine, its link or the API server may be asked. */

const credentials = { username: 'ada', password: 'hunter2' };
const egressOf = (env: Record<string, string>) => networkFrom(env).egress ?? strictEgress;

function refused(url: string, env: Record<string, string> = {}, withSecret = false): string | undefined {
  try {
    assertAllowed(new URL(url), withSecret, egressOf(env));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EgressError);
    return error.reason;
  }
}

for (const host of [
  '127.0.0.1',
  '127.8.8.8',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '0.0.0.0',
  '169.254.169.254',
  '169.254.170.23',
  '[::1]',
  '[::]',
  '[fe80::1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '168.63.129.16',
  '100.100.100.200',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'metadata.google.internal',
  'metadata.google.internal.',
  'kubernetes',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]) {
  test(`https://${host} is refused`, () => {
    assert.equal(refused(`https://${host}/o/r.git`), 'HostRefused');
  });
}

for (const host of [
  'git.example.com',
  '10.0.0.7',
  '192.168.1.2',
  'git.platform.svc',
  '[2001:db8::1]',
  '[64:ff9b::a00:7]',
]) {
  test(`https://${host} is allowed where an installation says nothing`, () => {
    assert.equal(refused(`https://${host}/o/r.git`), undefined);
  });
}

test('the API server is refused by its address, and on its very port whatever is allowed', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
  assert.equal(refused('https://10.96.0.1/api', env), 'HostRefused');
  assert.equal(refused('https://10.96.0.1:10250/pods', env), 'HostRefused');
  const said = { ...env, RATCHET_LOCAL_HOSTS: '10.96.0.1', RATCHET_HOSTS: '10.96.0.1' };
  assert.equal(refused('https://10.96.0.1:8443/o/r.git', said), undefined);
  assert.equal(refused('https://10.96.0.1/api', said), 'HostRefused');
});

for (const host of [
  '[::ffff:10.96.0.1]',
  '[::10.96.0.1]',
  '[64:ff9b::a60:1]',
  '[64:ff9b:1::a60:1]',
  '[2002:a60:1::]',
]) {
  test(`the API server is refused as ${host}, too, whatever is allowed`, () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
    assert.equal(refused(`https://${host}/api`, env), 'HostRefused');
    assert.equal(refused(`https://${host}/api`, { ...env, RATCHET_LOCAL_HOSTS: host }), 'HostRefused');
    assert.equal(refused(`https://${host}:8443/o/r.git`, { ...env, RATCHET_LOCAL_HOSTS: host }), undefined);
  });
}

test('an API server with an IPv6 address is refused in each spelling of it', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00:0:0::1', KUBERNETES_SERVICE_PORT: '443' };
  for (const host of ['[fd00::1]', '[FD00:0:0:0:0:0:0:1]'])
    assert.equal(refused(`https://${host}/`, env), 'HostRefused');
});

test('only hosts of the list are asked, by name, below a name, and by port', () => {
  const env = { RATCHET_HOSTS: 'git.example.com, *.forge.example\n10.0.0.7:8443' };
  for (const url of [
    'https://git.example.com/a',
    'https://GIT.example.com./a',
    'https://a.b.forge.example',
    'https://10.0.0.7:8443',
  ])
    assert.equal(refused(url, env), undefined, url);
  for (const url of [
    'https://example.com',
    'https://forge.example',
    'https://evilforge.example',
    'https://10.0.0.7',
    'https://git.example.com.evil.example',
  ])
    assert.equal(refused(url, env), 'HostRefused', url);
  assert.equal(
    refused('https://127.0.0.1', { RATCHET_HOSTS: '127.0.0.1' }),
    'HostRefused',
    'that takes RATCHET_LOCAL_HOSTS',
  );
});

test('a list without a valid entry allows nothing, and what is wrong is told', () => {
  const env = { RATCHET_HOSTS: 'https://git.example.com/ a@b host:99999 host:0 . *..' };
  assert.equal(refused('https://git.example.com', env), 'HostRefused');
  assert.deepEqual(wrongSettings(env), [
    'RATCHET_HOSTS: https://git.example.com/',
    'RATCHET_HOSTS: a@b',
    'RATCHET_HOSTS: host:99999',
    'RATCHET_HOSTS: host:0',
    'RATCHET_HOSTS: .',
    'RATCHET_HOSTS: *..',
  ]);
});

test('lists of hosts are read once, however many connections are made, and anew when they change', () => {
  const env = { RATCHET_HOSTS: 'git.example.com', RATCHET_LOCAL_HOSTS: 'localhost', RATCHET_PLAIN_HTTP_HOSTS: 'a b' };
  const [first, again] = [egressOf({ ...env }), egressOf({ ...env })];
  assert.ok(first.hosts && first.hosts === again.hosts);
  assert.ok(first.local === again.local && first.plainHttp === again.plainHttp);
  assert.equal(refused('https://other.example.com', { ...env, RATCHET_HOSTS: 'other.example.com' }), undefined);
});

test('a Secret goes over plain HTTP only where the installation says so, without one it may', () => {
  const url = 'http://git.example.com/o/r.git';
  assert.equal(refused(url, {}, true), 'PlainHttpRefused');
  assert.equal(refused(url, {}, false), undefined);
  assert.equal(refused(url, { RATCHET_PLAIN_HTTP_HOSTS: 'git.example.com' }, true), undefined);
  assert.equal(refused(url, { RATCHET_PLAIN_HTTP_HOSTS: 'other.example.com' }, true), 'PlainHttpRefused');
});

/** A server of this machine, and a name that leads elsewhere first, and then here. */
async function trap() {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response
      .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
      .end('secrets of this machine');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let looked = 0;
  const rebinding =
    (...answers: readonly (readonly string[])[]): LookupFunction =>
    (_name, options, callback) => {
      const found = (answers[looked] ?? answers.at(-1) ?? []).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }));
      looked += 1;
      if (options.all) return callback(null, found);
      return callback(null, found[0]?.address ?? '', found[0]?.family);
    };
  return {
    port,
    asked: () => asked,
    looked: () => looked,
    rebinding,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function askGit(port: number, network: Network): Promise<void> {
  using git = connect({ url: `http://rebind.example.com:${port}/r.git`, ref: 'main', path: '.' }, {}, network);
  const expect = 'application/x-git-upload-pack-advertisement';
  await git.send({ method: 'GET', resource: 'info/refs', expect, onData: () => undefined }, AbortSignal.timeout(5_000));
}

test('a name that leads to this machine is refused when it is looked up, and no byte is sent', async () => {
  await using here = await trap();
  for (const answers of [['127.0.0.1'], ['::1', '127.0.0.1'], ['169.254.169.254'], ['::ffff:127.0.0.1']]) {
    await assert.rejects(askGit(here.port, { lookup: here.rebinding(answers) }), { reason: 'HostRefused' });
  }
  assert.equal(here.asked(), 0);
});

test('of several addresses only those are connected to that are allowed', async () => {
  await using here = await trap();
  // Documentation only: nothing answers there.
  const lookup = here.rebinding(['192.0.2.1', '127.0.0.1']);
  const patience = AbortSignal.timeout(300);
  using git = connect({ url: `http://rebind.example.com:${here.port}/r.git`, ref: 'main', path: '.' }, {}, { lookup });
  const expect = 'application/x-git-upload-pack-advertisement';
  await assert.rejects(git.send({ method: 'GET', resource: 'info/refs', expect, onData: () => undefined }, patience));
  assert.equal(here.asked(), 0);
});

test('a connection is looked up once: what was judged is what is connected to', async () => {
  await using here = await trap();
  const network = {
    lookup: here.rebinding(['127.0.0.1'], ['169.254.169.254']),
    egress: egressOf({ RATCHET_LOCAL_HOSTS: 'rebind.example.com' }),
  };
  await askGit(here.port, network);
  assert.deepEqual([here.looked(), here.asked()], [1, 1]);
});

test('a name of the API server’s address and port is refused, whatever is allowed', async () => {
  await using here = await trap();
  const answers = [['127.0.0.1'], ['::ffff:127.0.0.1'], ['64:ff9b::7f00:1']];
  const env = {
    RATCHET_LOCAL_HOSTS: 'rebind.example.com',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(here.port),
  };
  for (const [index] of answers.entries()) {
    await assert.rejects(
      askGit(here.port, { lookup: here.rebinding(...answers), egress: egressOf(env) }),
      {
        reason: 'HostRefused',
        message: /API server/,
      },
      `${answers[index]}`,
    );
  }
  assert.equal(here.asked(), 0);
});

test('neither Git nor a forge is shown a Secret over plain HTTP, and no connection is made', async () => {
  await using here = await trap();
  const lookup = here.rebinding(['192.0.2.1']);
  assert.throws(
    () => connect({ url: 'http://git.example.com/r.git', ref: 'main', path: '.', credentials }, {}, { lookup }),
    {
      reason: 'PlainHttpRefused',
      message: /RATCHET_PLAIN_HTTP_HOSTS/,
    },
  );
  const forge = openForge('Gitea', {
    gitUrl: 'http://git.example.com/o/r.git',
    credentials: { kind: 'token', token: 'hunter2' },
    network: { lookup },
  });
  const status = { sha: 'ab'.repeat(20), context: 'c', state: 'success', description: 'd' } as const;
  await assert.rejects(forge.post(status, { signal: AbortSignal.timeout(5_000) }), { reason: 'PlainHttpRefused' });
  assert.equal(here.looked(), 0);
});
