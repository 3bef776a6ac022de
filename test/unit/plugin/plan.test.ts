import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { type Kubectl, type Reach, Refusal } from '../../../functions/plugin/command.ts';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { podHost } from '../../../manifests/render/names.ts';
import { EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { noKubectl, saidOn } from '../../support/plugin/said.ts';
import { bornWith } from '../../support/world/born.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, name, namespace, type World } from '../../support/world/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'ratchet-plan-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

function reachOf(world: World): Reach {
  return { etcd: async (tls) => etcdOf(world.state, tls), wire: wireOf(world.state) };
}

async function ratchet(world: World, args: readonly string[], reach = reachOf(world)) {
  const before = world.kube.journal().length;
  const said = await saidOn(world.kube, args, {}, { namespace, reach });
  const writes = world.kube
    .journal()
    .slice(before)
    .filter(({ key }) => !/^(GET|LIST)/.test(key));
  assert.deepEqual(writes, [], 'a plan writes nothing');
  return said;
}

function fileOf(content: string | Uint8Array): string {
  const file = join(directory, `${files++}.yaml`);
  writeFileSync(file, content);
  return file;
}

function documentOf(spec: Partial<EtcdClusterSpec>, called: string = name): string {
  const whole = { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, ...spec };
  const metadata = { name: called, namespace };
  return stringify({ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata, spec: whole });
}

test('of a cluster at rest there is nothing to do, and check says that it is well', async () => {
  const world = await bornWith({ replicas: 3 });
  const { code, out, err } = await ratchet(world, ['plan', name, '--exit-code']);
  assert.equal(code, 0, err);
  assert.match(out, /^shop\/orders .*\n→ \w+: /);
  const checked = await ratchet(world, ['check', name]);
  assert.equal(checked.code, 0);
  assert.match(checked.out, /^shop\/orders: Ready\n/);
});

test('what the spec in a file would do is what a step would do, and 4 is the code for it', async () => {
  const world = await bornWith({ replicas: 3 });
  const spec = world.cluster()?.spec ?? assert.fail();
  const file = fileOf(documentOf({ ...spec, replicas: 5 }));
  const { code, out } = await ratchet(world, ['plan', name, '-f', file, '--exit-code', '-o', 'json']);
  assert.equal(code, 4);
  const planned = JSON.parse(out);
  const foreseen = await world.plan({ replicas: 5 });
  assert.deepEqual(planned.planned.steps, JSON.parse(JSON.stringify(foreseen.planned?.steps)));
  assert.ok(planned.planned.steps.length > 0);
});

test('of a cluster that is not there yet, its birth is planned without asking any member', async () => {
  const world = createWorld();
  const silent: Reach = { ...reachOf(world), etcd: async () => assert.fail('no member is there') };
  const { code, out } = await ratchet(world, ['plan', name, '-f', fileOf(documentOf({}))], silent);
  assert.equal(code, 0);
  assert.match(out, /^shop\/orders is created .*\n *# +ACTION/);
});

test('a person is needed: 3, with what to do', async () => {
  const world = await bornWith({ replicas: 3 });
  await world.apply({ replicas: 3, version: '3.4.0' });
  const { code, out } = await ratchet(world, ['check', name]);
  assert.equal(code, 3);
  assert.match(out, /: Stalled\n {2}\w+: .*\n {2}to go on: /);
});

function awayFrom(world: World): Reach {
  const silence = async () => Promise.reject(new EtcdError('no answer', 'down'));
  const etcd: Reach['etcd'] = async (tls) => ({
    ...etcdOf(world.state, tls),
    ...{ members: silence, lastMembers: silence, status: silence, version: silence },
  });
  return { ...reachOf(world), etcd };
}

test('from a machine that reaches no member, and without an installation, no wrong plan is made', async () => {
  const world = await bornWith({ replicas: 3 });
  const { code, out, err } = await ratchet(world, ['plan', name], awayFrom(world));
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /this machine does not \(http:.*no answer\): what is said from here would be wrong\. A Job/);
  assert.match(err, /there is no CronJob etcd-ratchet\/etcd-ratchet: .*; or see: kubectl ratchet -n shop why orders/);
});

for (const command of ['plan', 'check'])
  test(`from a machine that reaches no member, ${command} asks a Job of the installation by itself`, async () => {
    const world = await bornWith({ replicas: 3 });
    const template = { spec: { containers: [{ name: 'tick', args: [] }] } };
    const metadata = { namespace: 'etcd-ratchet', name: 'etcd-ratchet', uid: 'c' };
    world.kube.seed(resources.cronJobs, { metadata, spec: { jobTemplate: { spec: { template } } } });
    const made: Job[] = [];
    const kube: FakeKube = {
      ...world.kube,
      create: async (resource, object, options) => {
        const job = await world.kube.create(resource, object, options);
        if (resource !== resources.jobs) return job;
        const done = { ...(job as unknown as Job), status: { conditions: [{ type: 'Complete', status: 'True' }] } };
        made.push(done);
        world.kube.seed(resources.jobs, done);
        const labels = { 'batch.kubernetes.io/job-name': job.metadata.name };
        world.kube.seed(resources.pods, { metadata: { namespace: 'etcd-ratchet', name: 'the-pod', labels } });
        return job;
      },
    };
    const end = { kind: 'done', reason: 'Converged', message: 'a Job saw it' };
    const planned = { summary: '', steps: [], end, changes: [], refusals: [], needsPerson: false };
    const clusters = [{ namespace, name, intent: 'keep', planned }];
    const kubectl = { ...noKubectl, text: async () => JSON.stringify({ fleets: [], clusters }) };
    const said = await saidOn(kube, [command, name], {}, { namespace, reach: awayFrom(world), kubectl });
    assert.equal(said.code, 0, said.err);
    assert.match(said.out, /a Job saw it/);
    assert.match(said.err, /this machine does not .*\. A Job of the installation is asked to look\nJob etcd-ratchet\//);
    assert.equal(made.length, 1);
    assert.deepEqual(world.kube.stored(resources.jobs), [], 'the Job is removed');
  });

test('a spec in a file is planned by no Job: it knows only what is in the cluster', async () => {
  const world = await bornWith({ replicas: 3 });
  const file = fileOf(documentOf({ ...world.cluster()?.spec, replicas: 5 }));
  const { code, err } = await ratchet(world, ['plan', name, '-f', file], awayFrom(world));
  assert.equal(code, 1);
  assert.doesNotMatch(err, /Job/);
});

/** A machine that reaches members at forwarded ports of its own only. `lost`: a pod that no port leads to. */
function byPortForward(world: World, lost?: string) {
  const urls = new Map<string, string>();
  const open = new Set<number>();
  const kubectl: Kubectl = {
    ...noKubectl,
    forward: async ({ pod, port: remote }) => {
      if (pod === lost) throw new Refusal(`pod ${pod} can't be reached by kubectl port-forward: forbidden`);
      const port = 40_000 + urls.size;
      const address = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === pod)
        ?.status?.podIP;
      urls.set(`127.0.0.1:${port}`, `${address}:${remote}`);
      open.add(port);
      return { port, [Symbol.dispose]: () => void open.delete(port) };
    },
  };
  const there = (url: string) => {
    const at = new URL(url);
    const [, address] = [...urls].find(([local]) => local === at.host) ?? [];
    if (address === undefined || !open.has(Number(at.port))) throw new EtcdError('no answer', 'down');
    return `${at.protocol}//${address}`;
  };
  const names: string[] = [];
  const wired: number[] = [];
  const etcd: Reach['etcd'] = async (tls) => {
    const real = etcdOf(world.state, tls);
    return {
      ...real,
      members: async (endpoints, options) => real.members(endpoints.map(there), options),
      lastMembers: async (endpoints, options) => real.lastMembers(endpoints.map(there), options),
      status: async (endpoint, options) => {
        const status = await real.status(there(endpoint), options);
        if (tls) names.push(tls.serverName(endpoint));
        return status;
      },
      version: async (endpoint, options) => real.version(there(endpoint), options),
      alarms: async (endpoints, options) => real.alarms(endpoints.map(there), options),
      metrics: async () => Promise.reject(new EtcdError('no answer', 'down')),
    };
  };
  const wire: Reach['wire'] = async (target, signal) => {
    if (target.host !== '127.0.0.1') return undefined;
    const { hostname: host, port } = new URL(there(`https://${target.host}:${target.port}`));
    wired.push(Number(port));
    return wireOf(world.state)({ ...target, host, port: Number(port) }, signal);
  };
  return { reach: { etcd, wire }, kubectl, open, names, wired };
}

for (const mode of ['Disabled', 'Managed'] as const)
  test(`from a machine that reaches no member, a spec in a file is planned by port-forward (TLS ${mode})`, async () => {
    const world = await bornWith({ replicas: 3, tls: { mode } });
    const spec = world.cluster()?.spec ?? assert.fail();
    const file = fileOf(documentOf({ ...spec, replicas: 5 }));
    const { reach, kubectl, open, names, wired } = byPortForward(world);
    const args = ['plan', name, '-f', file, '-o', 'json'];
    const { code, out, err } = await saidOn(world.kube, args, {}, { namespace, reach, kubectl });
    assert.equal(code, 0, err);
    const foreseen = await world.plan({ replicas: 5 });
    assert.deepEqual(JSON.parse(out).planned.steps, JSON.parse(JSON.stringify(foreseen.planned?.steps)));
    assert.ok(JSON.parse(out).planned.steps.length > 0);
    assert.equal(open.size, 0, 'every way is given back');
    const hosts = [0, 1, 2].map((ordinal) => podHost(namespace, name, `${name}-${ordinal}`));
    assert.deepEqual([...new Set(names)].toSorted(), mode === 'Managed' ? hosts : []);
    assert.deepEqual([...new Set(wired)].toSorted(), mode === 'Managed' ? [2379, 2380] : []);
  });

test('where a way leads to some members only, no plan is made of them', async () => {
  const world = await bornWith({ replicas: 3 });
  const file = fileOf(documentOf({ ...world.cluster()?.spec, replicas: 5 }));
  const { reach, kubectl, open } = byPortForward(world, `${name}-1-0`);
  const { code, out, err } = await saidOn(world.kube, ['plan', name, '-f', file], {}, { namespace, reach, kubectl });
  assert.deepEqual([code, out, open.size], [1, '', 0]);
  assert.match(err, /would be wrong\. By kubectl port-forward: pod orders-1-0 can't be reached .*: forbidden\n$/);
});

test('check is told by port-forward, too, and asks no Job then', async () => {
  const world = await bornWith({ replicas: 3 });
  const { reach, kubectl } = byPortForward(world);
  const { code, out, err } = await saidOn(world.kube, ['check', name], {}, { namespace, reach, kubectl });
  assert.equal(code, 0, err);
  assert.match(out, /^shop\/orders: Ready\n/);
  assert.doesNotMatch(err, /Job/);
});

test('what this person may not read is said, and no wrong plan is made of the rest', async () => {
  const world = await bornWith({ replicas: 3, tls: { mode: 'Managed' } });
  const forbidden = new KubeError('secrets are forbidden to you', {
    class: 'terminal',
    reason: 'Forbidden',
    status: 403,
  });
  const { kube } = world;
  const blind: typeof kube = {
    ...kube,
    get: (resource, ...rest) =>
      resource === resources.secrets ? Promise.reject(forbidden) : kube.get(resource, ...rest),
    list: (resource, options) =>
      resource === resources.secrets ? Promise.reject(forbidden) : kube.list(resource, options),
  };
  const { code, out, err } = await saidOn(blind, ['plan', name], {}, { namespace, reach: reachOf(world) });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /you may not read secrets, so no member can be asked/);
});

test('a file is judged as a fleet judges it, and nothing is asked for one that is wrong', async () => {
  const bad: readonly (readonly [string | Uint8Array, RegExp])[] = [
    [documentOf({}, 'other'), /has no EtcdCluster shop\/orders; it has: shop\/other/],
    [documentOf({ replicas: 2.5 }), /\.yaml:\d+:\d+.*replicas/],
    [`${documentOf({})}---\n${documentOf({})}`, /shop\/orders/],
    ['a: [1', /has no EtcdCluster|YAML/],
    ['', /it has: none/],
    [documentOf({}).replace('EtcdCluster', 'EtcdClustre'), /did you mean EtcdCluster/],
    [new Uint8Array([0xff, 0xfe, 0x00]), /has no EtcdCluster/],
    [`# ${'x'.repeat(1024 * 1024)}\n${documentOf({})}`, /is larger than/],
    [documentOf({}).replace('replicas: 3', 'replicas: &a [*a]'), /error: /],
  ];
  for (const [content, words] of bad) {
    const kube = createFakeKube();
    const { code, err } = await saidOn(kube, ['plan', name, '-f', fileOf(content)], {}, { namespace });
    assert.equal(code, 1, err);
    assert.match(err, words);
    assert.equal(kube.journal().length, 0);
  }
  const kube = createFakeKube();
  for (const file of [join(directory, 'none.yaml'), directory])
    assert.match(
      (await saidOn(kube, ['plan', name, '-f', file], {}, { namespace })).err,
      /can't be read: (ENOENT|EISDIR)/,
    );
});

test('a restore asks for a new cluster like the one that was backed up, and touches no other', async () => {
  const world = await bornWith({ replicas: 3 });
  const { kube } = world;
  const run = (...args: readonly string[]) => saidOn(kube, ['restore', ...args], {}, { namespace });
  assert.match((await run('nightly', '--to', 'anew')).err, /no EtcdBackup shop\/nightly/);
  const backup = (status: 'True' | 'False') => ({
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace, name: 'nightly' },
    spec: { clusterName: name, to: { object: 's3://b/o', credentialsSecretName: 'x' } },
    status: {
      conditions: [{ type: 'Ready', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });
  kube.seed(resources.backups, backup('False'));
  assert.match((await run('nightly', '--to', 'anew')).err, /is not Ready/);
  kube.seed(resources.backups, backup('True'));
  assert.match((await run('nightly', '--to', name)).err, /EtcdCluster shop\/orders exists/);
  assert.equal((await run('nightly')).code, 2, 'the new name is given');
  const { code, out } = await run('nightly', '--to', 'anew');
  assert.equal(code, 0);
  assert.match(out, /EtcdRestore shop\/anew is asked for/);
  const [made] = kube.stored<{ metadata: { name: string }; spec: unknown }>(resources.restores);
  const { bootstrap: _, rollback: __, ...spec } = world.cluster()?.spec ?? assert.fail();
  assert.deepEqual(made?.spec, { backupName: 'nightly', cluster: { name: 'anew', spec } });
  assert.match((await run('nightly', '--to', 'anew')).err, /EtcdRestore shop\/anew exists/);
  const small = fileOf(documentOf({ replicas: 1 }, 'small'));
  assert.equal((await run('nightly', '--to', 'small', '-f', small)).code, 0);
  assert.equal(kube.stored(resources.restores).length, 2);
});
