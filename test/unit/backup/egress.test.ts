import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, Agent as HttpAgent, type RequestListener } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { egressFrom } from '../../../functions/environment.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { contextFor, fresh } from './run-jobs.ts';

/** Authors of backups who want a Job to ask what only this machine, its link or the API server may be asked. */

const apiServer = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
const hosts = [
  '127.0.0.1:9000',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:169.254.169.254]',
  '169.254.169.254',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
  'localhost:9000',
  'LOCALHOST.',
  'metadata.google.internal',
  'kubernetes.default.svc',
  '10.96.0.1',
  '10.96.0.1:10250',
  '[::ffff:10.96.0.1]',
  '[64:ff9b::a60:1]',
];
const places = {
  s3: (endpoint: string) => ({ object: 's3://bucket/{{timestamp}}.db', s3: { endpoint } }),
  gs: (endpoint: string) => ({
    object: 'gs://bucket/{{timestamp}}.db',
    gcs: { endpoint, authentication: 'Anonymous' as const },
  }),
};

async function stepped(to: EtcdBackup['spec']['to'], env: Record<string, string> = {}) {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh({ to }));
  const egress = egressFrom({ ...apiServer, ...env });
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), { ...contextFor(kube), egress });
  const ready = kube.stored<EtcdBackup>(resources.backups)[0]?.status?.conditions?.[0];
  return { ready, jobs: kube.stored<Job>(resources.jobs) };
}

for (const [scheme, to] of Object.entries(places)) {
  for (const host of hosts) {
    test(`no Job is made for ${scheme}:// at https://${host}, and its author is told why`, async () => {
      const { ready, jobs } = await stepped(to(`https://${host}`));
      assert.deepEqual([ready?.reason, jobs], ['HostRefused', []]);
      assert.match(ready?.message ?? '', /RATCHET_LOCAL_HOSTS|API server/);
    });
  }

  test(`no Job looks for what ${scheme}:// stored at such a host`, async () => {
    const { object, ...rest } = to('https://169.254.169.254');
    const spec = {
      to: { ...rest, object: object.replace('{{timestamp}}', 'a') },
      existing: { sha256: 'f'.repeat(64) },
    };
    const kube = createFakeKube();
    kube.seed(resources.backups, fresh(spec));
    const context = { ...contextFor(kube), egress: egressFrom(apiServer) };
    await stepBackups(kube.stored<EtcdBackup>(resources.backups), context);
    assert.deepEqual(kube.stored<Job>(resources.jobs), []);
    const [{ status } = assert.fail()] = kube.stored<EtcdBackup>(resources.backups);
    assert.equal(status?.conditions?.[0]?.reason, 'HostRefused');
  });

  test(`a ${scheme}:// endpoint that is not listed gets no Job where the installation lists hosts`, async () => {
    const env = { RATCHET_HOSTS: 'git.example.com *.store.example.com' };
    const { ready, jobs } = await stepped(to('https://minio.example.com'), env);
    assert.deepEqual([ready?.reason, jobs], ['HostRefused', []]);
    assert.equal((await stepped(to('https://eu.store.example.com'), env)).jobs.length, 1);
  });
}

test('a Job is told what the installation says of hosts, where its author names one', async () => {
  const said = {
    RATCHET_HOSTS: '*.example.com:9000 [2001:db8::1] 10.0.0.7',
    RATCHET_LOCAL_HOSTS: 'minio.example.com',
    RATCHET_PLAIN_HTTP_HOSTS: 'minio.example.com:9000',
  };
  const told = async (endpoint: string) => {
    const { jobs } = await stepped(places.s3(endpoint), said);
    const env = jobs[0]?.spec.template.spec.containers[0]?.env ?? [];
    return Object.fromEntries(env.filter(({ name }) => name in said).map(({ name, value }) => [name, value]));
  };
  const { RATCHET_PLAIN_HTTP_HOSTS: _, ...ofHosts } = said;
  assert.deepEqual(await told('http://minio.example.com:9000'), said);
  assert.deepEqual(await told('https://minio.example.com:9000'), ofHosts);
  assert.deepEqual(egressFrom(await told('http://minio.example.com:9000')), egressFrom(said));
  const { jobs } = await stepped({ object: 's3://bucket/a.db' }, said);
  assert.equal(jobs[0]?.spec.template.spec.containers[0]?.env?.length, 2, 'it goes to Amazon');
});

test('a list of hosts that can not be read lets no Job go anywhere, and none forgets it', async () => {
  const { ready } = await stepped(places.s3('https://minio.example.com'), { RATCHET_HOSTS: 'https://oops/' });
  assert.equal(ready?.reason, 'HostRefused');
});

/** As Node makes them, while no store is open. */
const { createConnection } = HttpAgent.prototype;

describe('the agent, which looks names up itself', () => {
  let directory: string;
  const addresses = new Map<string, readonly string[]>();
  const looked: string[] = [];

  before(async () => {
    // Google's client tries again for a quarter of a minute. What is told does not wait for that, nor does this test.
    mock.timers.enable({ apis: ['setTimeout'] });
    directory = await mkdtemp(join(tmpdir(), 'ratchet-egress-'));
    await writeFile(join(directory, 'access-key-id'), 'access');
    await writeFile(join(directory, 'secret-access-key'), 'secret');
    mock.method(dns, 'lookup', (name: string, ...rest: [...(dns.LookupAllOptions | object)[], Answered]) => {
      const callback = rest.pop() as Answered;
      const found = (isIP(name) === 0 ? (addresses.get(name) ?? []) : [name]).map((address) => ({
        address,
        family: isIP(address),
      }));
      if (isIP(name) === 0) looked.push(name);
      if (found[0] === undefined) return callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
      if (rest[0] && 'all' in rest[0] && rest[0].all) return callback(null, found);
      return callback(null, found[0].address, found[0].family);
    });
    syncBuiltinESMExports();
  });
  after(async () => {
    mock.timers.reset();
    mock.restoreAll();
    syncBuiltinESMExports();
    await rm(directory, { recursive: true });
  });

  type Answered = (error: Error | null, found: string | readonly dns.LookupAddress[], family?: number) => void;

  async function serving(answer: RequestListener) {
    let asked = 0;
    const server = createServer((request, response) => {
      asked += 1;
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      asked: () => asked,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  async function fetched(object: string, store: object, env: Record<string, string>) {
    const file = join(directory, 'snapshot.db');
    const request = { operation: 'fetch', object, store, file, deadlineSeconds: 20 };
    const context = { signal: AbortSignal.timeout(20_000), now: () => new Date(), note: () => undefined };
    const { result } = await runAgent(JSON.stringify(request), { ...context, egress: egressFrom(env) });
    return result;
  }

  const stores = {
    s3: (endpoint: string) => ({ s3: { endpoint, credentialsDirectory: directory } }),
    gs: (endpoint: string) => ({ gcs: { endpoint, anonymous: true } }),
  };

  for (const [scheme, store] of Object.entries(stores)) {
    test(`${scheme}://: a name that leads to this machine is asked where that is listed`, async () => {
      await using here = await serving((_, response) => response.writeHead(404).end());
      addresses.set('store.example.com', ['127.0.0.1']);
      const env = { RATCHET_PLAIN_HTTP_HOSTS: 'store.example.com', RATCHET_LOCAL_HOSTS: 'store.example.com' };
      const result = await fetched(`${scheme}://bucket/a.db`, store(`http://store.example.com:${here.port}`), env);
      assert.equal(result.reason, 'NotFound');
      assert.ok(here.asked() > 0);
    });

    test(`${scheme}://: nothing is looked up for an endpoint that is refused by its words`, async () => {
      looked.length = 0;
      for (const host of hosts) {
        const { reason } = await fetched(`${scheme}://bucket/a.db`, store(`https://${host}`), apiServer);
        assert.equal(reason, 'HostRefused', host);
      }
      assert.deepEqual(looked, []);
    });
  }

  test('a bucket that makes another host of the endpoint does not get there', async () => {
    await using here = await serving((_, response) => response.writeHead(404).end());
    addresses.set('metadata.internal.example', ['127.0.0.1']);
    const endpoint = `http://internal.example:${here.port}`;
    const settings = { s3: { endpoint, pathStyle: false, credentialsDirectory: directory } };
    const { reason } = await fetched('s3://metadata/a.db', settings, { RATCHET_PLAIN_HTTP_HOSTS: 'internal.example' });
    assert.deepEqual([reason, here.asked()], ['HostRefused', 0]);
  });

  test('a store that sends its client on to this machine does not get it there', async () => {
    await using inside = await serving((_, response) => response.end('secrets of this machine'));
    await using outside = await serving((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end(),
    );
    const env = { RATCHET_LOCAL_HOSTS: `127.0.0.1:${outside.port}`, RATCHET_PLAIN_HTTP_HOSTS: '127.0.0.1' };
    const sent = await fetched('s3://bucket/a.db', stores.s3(`http://127.0.0.1:${outside.port}`), env);
    assert.equal(sent.ok, false);
    const { reason } = await fetched('gs://bucket/a.db', stores.gs(`http://127.0.0.1:${outside.port}`), env);
    assert.equal(reason, 'StoreRefused');
    assert.ok(outside.asked() >= 2);
    assert.equal(inside.asked(), 0);
  });

  for (const [scheme, store] of Object.entries(stores)) {
    test(`${scheme}://: a name that leads to this machine is not connected to`, async () => {
      await using here = await serving((_, response) => response.writeHead(404).end());
      const env = { RATCHET_PLAIN_HTTP_HOSTS: 'store.example.com' };
      for (const found of [['127.0.0.1'], ['::ffff:127.0.0.1', '127.0.0.1'], ['169.254.169.254']]) {
        addresses.set('store.example.com', found);
        const result = await fetched(`${scheme}://bucket/a.db`, store(`http://store.example.com:${here.port}`), env);
        assert.deepEqual([result.ok, result.reason], [false, 'HostRefused'], JSON.stringify(result));
        assert.match(result.message ?? '', /RATCHET_LOCAL_HOSTS/);
      }
      assert.equal(here.asked(), 0);
    });
  }

  test('a region makes no other host of Amazon’s', async () => {
    looked.length = 0;
    const region = 'x.evil.example/#';
    const settings = { s3: { region, credentialsDirectory: directory } };
    const { ok } = await fetched('s3://bucket/a.db', settings, {});
    assert.equal(ok, false);
    assert.deepEqual(
      looked.filter((name) => !name.endsWith('.amazonaws.com')),
      [],
    );
  });

  test('what was refused is guarded until its client has given up, and not longer', async () => {
    assert.notEqual(HttpAgent.prototype.createConnection, createConnection);
    const deadline = performance.now() + 20_000;
    while (HttpAgent.prototype.createConnection !== createConnection && performance.now() < deadline) {
      mock.timers.runAll();
      await turn();
    }
    assert.equal(HttpAgent.prototype.createConnection, createConnection);
  });
});
