import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, mock, test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { contextFor, fresh } from './run-jobs.ts';

/** Authors of backups who call something an etcd that only this machine, its link or the API server may be asked. */

const apiServer = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
const hosts = [
  '127.0.0.1:2379',
  '2130706433:2379',
  '0x7f.1',
  '[::1]:2379',
  '[::ffff:169.254.169.254]:80',
  '169.254.169.254',
  '169.254.169.254:80',
  '[fe80::1]:2379',
  'localhost:2379',
  'LOCALHOST.:2379',
  'metadata.google.internal',
  'kubernetes.default.svc',
  '10.96.0.1',
  '10.96.0.1:10250',
  '[64:ff9b::a60:1]',
];
const good = 'https://etcd.example.com:2379';

async function stepped(endpoints: readonly string[], env: Record<string, string> = {}) {
  const kube = createFakeKube();
  const { clusterName: _, ...spec } = fresh({ to: { object: 's3://bucket/{{timestamp}}.db' } }).spec;
  kube.seed(resources.backups, { ...fresh(), spec: { ...spec, source: { endpoints } } });
  const egress = egressFrom({ ...apiServer, ...env });
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), { ...contextFor(kube), egress });
  const ready = kube.stored<EtcdBackup>(resources.backups)[0]?.status?.conditions?.[0];
  return { ready, jobs: kube.stored<Job>(resources.jobs) };
}

for (const scheme of ['http', 'https']) {
  for (const host of hosts) {
    test(`no Job is made that asks ${scheme}://${host} for a snapshot, also among others`, async () => {
      for (const endpoints of [[`${scheme}://${host}`], [good, `${scheme}://${host}`]]) {
        const { ready, jobs } = await stepped(endpoints);
        assert.deepEqual([ready?.reason, jobs], ['HostRefused', []]);
        assert.match(ready?.message ?? '', /RATCHET_LOCAL_HOSTS|API server/);
      }
    });
  }
}

test('an etcd outside that is not listed gets no Job where the installation lists hosts', async () => {
  const env = { RATCHET_HOSTS: 'git.example.com *.old.example.com:2379' };
  const { ready, jobs } = await stepped([good], env);
  assert.deepEqual([ready?.reason, jobs], ['HostRefused', []]);
  assert.equal((await stepped(['https://a.old.example.com:2379'], env)).jobs.length, 1);
  assert.equal((await stepped(['https://a.old.example.com:2380'], env)).jobs.length, 0);
});

test('a Job that asks an etcd outside is told what the installation says of hosts', async () => {
  const said = { RATCHET_HOSTS: 'etcd.example.com', RATCHET_LOCAL_HOSTS: 'etcd.example.com' };
  const { jobs } = await stepped([good], said);
  const { env = [] } = jobs[0]?.spec.template.spec.containers[0] ?? {};
  const told = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  assert.partialDeepStrictEqual(told, said);
  assert.deepEqual(JSON.parse(told.RATCHET_BACKUP_REQUEST ?? '').source, { endpoints: [good], outside: true });
});

test('members of an EtcdCluster are asked without being listed', async () => {
  const kube = createFakeKube();
  kube.seed(resources.backups, fresh());
  const egress = egressFrom({ ...apiServer, RATCHET_HOSTS: 'git.example.com' });
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), { ...contextFor(kube), egress });
  const [job] = kube.stored<Job>(resources.jobs);
  const { env = [] } = job?.spec.template.spec.containers[0] ?? {};
  assert.ok(!env.some(({ name, value }) => name === 'RATCHET_HOSTS' || value?.includes('outside')));
});

describe('the agent, which looks names up itself', () => {
  const addresses = new Map<string, readonly string[]>();
  const looked: string[] = [];
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ratchet-egress-'));
    mock.method(dns.promises, 'lookup', async (name: string) => {
      looked.push(name);
      const found = addresses.get(name) ?? [];
      if (found.length === 0) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      return found.map((address) => ({ address, family: isIP(address) }));
    });
  });
  after(async () => {
    mock.restoreAll();
    await rm(directory, { recursive: true });
  });

  /** Something on this machine that is no etcd: whoever connects has got too far. */
  async function listening() {
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { port, reached: () => reached, [Symbol.asyncDispose]: async () => void server.close() };
  }

  async function asked(endpoints: readonly string[], env: Record<string, string>) {
    const source = { endpoints, outside: true };
    const place = { object: 'pvc://backups/a.db', store: { directory } };
    const request = { operation: 'backup', id: 'a', ...place, source, deadlineSeconds: 20 };
    const context = { signal: AbortSignal.timeout(20_000), now: () => new Date(), note: () => undefined };
    return (await runAgent(JSON.stringify(request), { ...context, egress: egressFrom(env) })).result;
  }

  test('nothing is looked up for an endpoint that is refused by its words', async () => {
    looked.length = 0;
    for (const host of hosts)
      assert.equal((await asked([good, `http://${host}`], apiServer)).reason, 'HostRefused', host);
    assert.deepEqual(looked, []);
  });

  test('a name that leads to this machine, its link or the API server is not connected to', async () => {
    await using here = await listening();
    for (const found of ['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '10.96.0.1']) {
      addresses.set('etcd.example.com', [found]);
      const { ok, reason, message } = await asked([`http://etcd.example.com:${here.port}`], apiServer);
      assert.deepEqual([ok, reason], [false, 'HostRefused'], `${found}: ${message}`);
      assert.match(message ?? '', /RATCHET_LOCAL_HOSTS/);
    }
    assert.equal(here.reached(), 0);
  });

  test('a name that leads to this machine is connected to where the installation lists it', async () => {
    await using here = await listening();
    addresses.set('etcd.example.com', ['127.0.0.1']);
    const { reason } = await asked([`http://etcd.example.com:${here.port}`], {
      RATCHET_LOCAL_HOSTS: 'etcd.example.com',
    });
    assert.equal(reason, 'Unreachable');
    assert.ok(here.reached() > 0);
  });

  test('one of several endpoints that leads to this machine ends it for all', async () => {
    await using here = await listening();
    addresses.set('etcd.example.com', ['127.0.0.1']);
    addresses.set('local.example.com', ['127.0.0.1']);
    const endpoints = [`http://local.example.com:${here.port}`, `http://etcd.example.com:${here.port}`];
    const { reason } = await asked(endpoints, { RATCHET_LOCAL_HOSTS: 'local.example.com' });
    assert.equal(reason, 'HostRefused');
  });
});
