import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy, EtcdNodePolicySpec } from '../../../manifests/api/etcd-node-policy.ts';
import type { Event, Job, Node, Pod } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../run/part.ts';
import { crashesIn, killer } from '../../support/world/crash.ts';
import { type NodesWorld, nodesWorld } from '../../support/world/nodes.ts';

/** People and other controllers in the middle of a reboot. In each round the world looks whether a quorum is left. */

const nodes = ['node-1', 'node-2', 'node-3'] as const;

async function rounds(stage: NodesWorld, count: number, until: () => boolean = () => false): Promise<void> {
  for (let round = 0; round < count && !until(); round += 1) {
    await stage.step();
    await stage.pass();
  }
}

function change(stage: NodesWorld, spec: Partial<EtcdNodePolicySpec>): void {
  const policy = stage.policy();
  stage.world.state.kube.seed(resources.nodePolicies, { ...policy, spec: { ...policy.spec, ...spec } });
}

function marksOf(stage: NodesWorld, name: string): readonly string[] {
  const found = Object.keys(stage.node(name).metadata.annotations ?? {});
  return found.filter((key) => /reboot-(granted|cordoned|now|in-progress|returned)$/.test(key));
}

async function addPolicy(stage: NodesWorld, name: string, spec: Partial<EtcdNodePolicySpec> = {}): Promise<void> {
  const about = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name } } as const;
  const policy = { ...about, spec: { nodeSelector: {}, ...spec } };
  await stage.world.state.kube.create<EtcdNodePolicy>(resources.nodePolicies, policy);
}

function grantsOf(stage: NodesWorld): readonly string[] {
  const all = stage.world.state.kube.stored<EtcdNodePolicy>(resources.nodePolicies);
  return all.flatMap(({ status }) => status?.grants?.map(({ node }) => node) ?? []);
}

test('two policies for the same nodes, each stepped by two at once, reboot each node once', async () => {
  const stage = await nodesWorld({ maxUnavailable: 3 });
  await addPolicy(stage, 'other', { maxUnavailable: 3 });
  for (const name of nodes) stage.ask(name);
  for (let round = 0; round < 80 && stage.policy().status?.done !== 3; round += 1) {
    await Promise.all([stage.step(), stage.step()]);
    assert.equal(new Set(grantsOf(stage)).size, grantsOf(stage).length, 'of one policy alone');
    await stage.pass();
  }
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1, 'node-3': 1 });
});

test('two policies that grant two nodes of one cluster at the same moment take turns', async () => {
  const stage = await nodesWorld({ nodeSelector: { pool: 'one' } });
  await addPolicy(stage, 'two', { nodeSelector: { pool: 'two' } });
  const { kube } = stage.world.state;
  for (const [name, pool] of [
    ['node-1', 'one'],
    ['node-2', 'two'],
  ] as const) {
    kube.seed(resources.nodes, { ...stage.node(name), metadata: { ...stage.node(name).metadata, labels: { pool } } });
    stage.ask(name);
  }
  // Neither saw the other's grant: both policies have begun.
  const grant = (node: string) => ({
    ...{ node, uid: `uid-${node}`, id: `id-of-${node}`, at: new Date(stage.world.state.clock()).toISOString() },
    ...{ why: 'kernel', bootID: `${node}-boot-0`, clusters: ['shop/orders'] },
  });
  for (const policy of kube.stored<EtcdNodePolicy>(resources.nodePolicies)) {
    const node = policy.metadata.name === 'two' ? 'node-2' : 'node-1';
    kube.seed(resources.nodePolicies, { ...policy, status: { observedGeneration: 1, grants: [grant(node)] } });
  }
  await rounds(stage, 60, () => stage.reboots.size === 2 && grantsOf(stage).length === 0);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1 });
});

test('a node whose label is taken away at any moment of its way comes to its end', async () => {
  for (let place = 0; place < 9; place += 1) {
    const stage = await nodesWorld({ nodeSelector: { pool: 'one' } });
    const { kube } = stage.world.state;
    const label = (labels: Readonly<Record<string, string>>) =>
      kube.seed(resources.nodes, { ...stage.node('node-1'), metadata: { ...stage.node('node-1').metadata, labels } });
    label({ pool: 'one' });
    stage.ask('node-1');
    await rounds(stage, place);
    const hadBegun = grantsOf(stage).length > 0 || stage.reboots.size > 0;
    label({});
    await rounds(stage, 40, () => hadBegun && grantsOf(stage).length === 0 && stage.reboots.size > 0);
    assert.equal(stage.reboots.get('node-1') ?? 0, hadBegun ? 1 : 0, `at ${place}`);
    assert.notEqual(stage.node('node-1').spec?.unschedulable, true, `at ${place}`);
    assert.deepEqual(marksOf(stage, 'node-1'), [], `at ${place}`);
  }
});

test('a selector that is changed in the middle finishes what has begun, and begins nothing else', async () => {
  const stage = await nodesWorld();
  for (const name of nodes) stage.ask(name);
  await rounds(stage, 3);
  assert.deepEqual(grantsOf(stage), ['node-1']);
  change(stage, { nodeSelector: { pool: 'none' } });
  await rounds(stage, 30);
  assert.deepEqual([Object.fromEntries(stage.reboots), grantsOf(stage)], [{ 'node-1': 1 }, []]);
});

test('a Node that is made anew under its name at any moment is not rebooted by the old order', async () => {
  for (let place = 1; place < 8; place += 1) {
    const stage = await nodesWorld();
    const { kube } = stage.world.state;
    stage.ask('node-1');
    await rounds(stage, place);
    const before = stage.reboots.get('node-1') ?? 0;
    const { status } = stage.node('node-1');
    kube.remove(resources.nodes, undefined, 'node-1');
    kube.seed<Node>(resources.nodes, {
      metadata: { name: 'node-1', uid: `another-${place}` },
      spec: {},
      ...(status && { status: { ...status, nodeInfo: { bootID: `another-boot-${place}` } } }),
    });
    await rounds(stage, 30);
    assert.equal(stage.reboots.get('node-1') ?? 0, before, `at ${place}`);
    assert.deepEqual([grantsOf(stage), marksOf(stage, 'node-1')], [[], []], `at ${place}`);
    assert.notEqual(stage.node('node-1').spec?.unschedulable, true, `at ${place}`);
    const jobs = kube.stored<Job>(resources.jobs).filter(({ metadata }) => metadata.name.startsWith('reboot-'));
    assert.deepEqual(jobs, [], `at ${place}`);
  }
});

test('a policy that is deleted and made anew under its name at any moment costs no quorum', async () => {
  for (let place = 1; place < 9; place += 1) {
    const stage = await nodesWorld({ maxUnavailable: 2 });
    const { kube } = stage.world.state;
    for (const name of nodes) stage.ask(name);
    await rounds(stage, place);
    kube.remove(resources.nodePolicies, undefined, 'all');
    await addPolicy(stage, 'all', { maxUnavailable: 2 });
    await rounds(stage, 40);
    // What was cordoned stays so, and does not begin, until a person uncordons it; then all go on.
    for (const { node, reason } of stage.policy().status?.blocked ?? []) {
      if (reason !== 'PolicyGone') continue;
      assert.equal(stage.node(node).spec?.unschedulable, true);
      kube.seed(resources.nodes, { ...stage.node(node), spec: {} });
    }
    await rounds(stage, 80, () => nodes.every((name) => stage.reboots.has(name)) && grantsOf(stage).length === 0);
    for (const name of nodes) assert.ok((stage.reboots.get(name) ?? 0) >= 1, `${name} at ${place}`);
  }
});

test('marks that a stranger dates into the future are taken away, and hold up no other node', async () => {
  const stage = await nodesWorld();
  stage.annotate('node-1', { [annotations.rebootGranted]: '2999-01-02T03:04:05Z stranger' });
  stage.annotate('node-2', { [annotations.rebootPutOff]: '2999-01-02T03:04:05Z DrainTimedOut' });
  stage.ask('node-2');
  await rounds(stage, 30, () => stage.reboots.has('node-2'));
  assert.deepEqual([stage.reboots.get('node-2'), marksOf(stage, 'node-1')], [1, []]);
});

test('a disruption budget that refuses for ever gives the node back each time, and others go on', async (t) => {
  const stage = await nodesWorld({ drain: { timeout: '2m', unmanagedPods: 'Evict' } });
  const { kube } = stage.world.state;
  const web: Pod = {
    metadata: { name: 'web', namespace: 'shop', uid: 'web' },
    spec: { nodeName: 'node-1', containers: [] },
    status: { phase: 'Running' },
  };
  stage.seedPod(web);
  const evict = kube.evict.bind(kube);
  let refused = 0;
  t.mock.method(kube, 'evict', async (...[namespace, name, options]: Parameters<typeof evict>) => {
    if (name !== 'web') return evict(namespace, name, options);
    refused += 1;
    const facts = { class: 'retryable', status: 429, reason: 'TooManyRequests', causes: ['DisruptionBudget'] } as const;
    throw new KubeError('Cannot evict pod as it would violate the disruption budget of web', facts);
  });
  stage.ask('node-1');
  stage.ask('node-2');
  await rounds(stage, 10);
  assert.equal(stage.policy().status?.blocked?.[0]?.reason, 'EvictionRefused');
  await rounds(stage, 80, () => stage.reboots.has('node-2') && grantsOf(stage).length === 0);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-2': 1 });
  // It is tried again and again, and never stays cordoned for longer than the time-out of a drain.
  let [turns, cordonedFor] = [0, 0];
  for (let round = 0; round < 120; round += 1) {
    await stage.step();
    await stage.pass();
    const isCordoned = stage.node('node-1').spec?.unschedulable === true;
    if (!isCordoned && cordonedFor > 0) turns += 1;
    cordonedFor = isCordoned ? cordonedFor + 5 : 0;
    assert.ok(cordonedFor <= 150, `cordoned for ${cordonedFor} s`);
  }
  assert.ok(turns >= 2 && refused > 10, `${turns} turns, ${refused} refusals`);
  assert.equal(stage.reboots.has('node-1'), false);
});

test('a clock of the process that is hours off moves nothing: all times are of the API server', async (t) => {
  for (const hours of [-30, 30]) {
    const stage = await nodesWorld({ drain: { timeout: '1m' }, reboot: { timeout: '1m' } });
    for (const name of nodes) stage.ask(name);
    t.mock.timers.enable({ apis: ['Date'], now: stage.world.state.clock() + hours * 3_600_000 });
    await rounds(stage, 60, () => stage.policy().status?.done === 3);
    t.mock.timers.reset();
    assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1, 'node-3': 1 }, `${hours} h`);
  }
});

test('marks of a node are of the time of the API server, also where its agent writes them', async (t) => {
  const stage = await nodesWorld();
  stage.break('node-1', true);
  stage.ask('node-1');
  const wrong = stage.world.state.clock() + 86_400_000;
  t.mock.timers.enable({ apis: ['Date'], now: wrong });
  await rounds(stage, 30, () => stage.reboots.has('node-1'));
  t.mock.timers.reset();
  const [time = ''] = (stage.node('node-1').metadata.annotations?.[annotations.rebootInProgress] ?? '').split(' ');
  const off = Math.abs(new Date(time).getTime() - stage.world.state.clock());
  assert.ok(off < 3_600_000, `${off} ms off`);
});

test('a reboot with spec.skipDrain keeps other pods where they are', async () => {
  const stage = await nodesWorld({ skipDrain: true });
  stage.seedPod({
    metadata: { name: 'bare', namespace: 'shop', uid: 'bare' },
    spec: { nodeName: 'node-1', containers: [] },
    status: { phase: 'Running' },
  });
  for (const name of nodes) stage.ask(name);
  await rounds(stage, 80, () => stage.policy().status?.done === 3);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1, 'node-3': 1 });
  const { kube } = stage.world.state;
  assert.ok(kube.stored<Pod>(resources.pods).some(({ metadata }) => metadata.uid === 'bare'));
});

test('the time that a cluster runs with one less is measured, and a plan says it', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  await rounds(stage, 40, () => stage.policy().status?.done === 1);
  const seconds = stage.policy().status?.lastDone?.oneLessSeconds ?? 0;
  assert.ok(seconds >= 5 && seconds < 120, `${seconds} s`);
});

test('no node begins while an alert fires or Prometheus is silent; one that has begun goes on', async () => {
  const url = 'http://prometheus.monitoring:9090';
  const stage = await nodesWorld({ blockedByAlerts: { url, ignore: ['Watchdog'] } });
  const firing = (...names: readonly string[]) => {
    const alerts = names.map((alertname) => ({ labels: { alertname }, state: 'firing' }));
    return JSON.stringify({ status: 'success', data: { alerts } });
  };
  for (const name of ['node-1', 'node-2'] as const) stage.ask(name);
  const reason = () => stage.policy().status?.blocked?.[0]?.reason;
  stage.alerts(() => firing('Watchdog', 'DiskFull'));
  await rounds(stage, 3);
  assert.deepEqual([reason(), grantsOf(stage)], ['AlertFiring', []]);
  stage.alerts(() => {
    throw new Error('connect ECONNREFUSED');
  });
  await rounds(stage, 3);
  assert.deepEqual([reason(), grantsOf(stage)], ['AlertsUnreadable', []]);
  assert.equal(stage.policy().status?.conditions?.[0]?.status, 'True');
  stage.alerts(() => firing('Watchdog'));
  await rounds(stage, 2);
  assert.deepEqual(grantsOf(stage), ['node-1']);
  stage.alerts(() => firing('DiskFull'));
  await rounds(stage, 60, () => stage.reboots.has('node-1') && grantsOf(stage).length === 0);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1 });
});

test("no node begins while kured's lock is held, and the message says by which node", async () => {
  const stage = await nodesWorld({ kured: {} });
  const { kube } = stage.world.state;
  const held = { nodeID: 'node-3', created: '2026-01-01T00:00:00Z', TTL: 0 };
  const daemonSet = (found: Readonly<Record<string, string>>) =>
    kube.seed(resources.daemonSets, { metadata: { name: 'kured', namespace: 'kube-system', annotations: found } });
  daemonSet({ 'weave.works/kured-node-lock': JSON.stringify(held) });
  stage.ask('node-1');
  await rounds(stage, 3);
  const [blocked] = stage.policy().status?.blocked ?? [];
  assert.deepEqual([blocked?.reason, grantsOf(stage)], ['KuredAtWork', []]);
  assert.match(blocked?.message ?? '', /held by node-3/);
  daemonSet({});
  await rounds(stage, 40, () => stage.reboots.has('node-1'));
  assert.equal(stage.reboots.get('node-1'), 1);
});

/** Until the sentinels of the first two nodes were found, and their reboots are done. */
async function looked(stage: NodesWorld): Promise<void> {
  await rounds(stage, 120, () => stage.policy().status?.done === 2);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1 });
}

/** The file is gone with the reboot, as under /var/run. */
async function sentinelStage(): Promise<NodesWorld> {
  const stage = await nodesWorld({ sentinel: { every: '10m' } });
  stage.sentinel('node-1', 'needed');
  stage.sentinel('node-2', 'needed');
  return stage;
}

test('a node whose sentinel is found is rebooted, and its look leaves no Job behind', async () => {
  const stage = await sentinelStage();
  await looked(stage);
  const { kube } = stage.world.state;
  assert.deepEqual(kube.stored(resources.jobs), []);
  for (const name of nodes)
    assert.match(stage.node(name).metadata.annotations?.[annotations.rebootLooked] ?? '', /Z (needed|none)$/);
  const events = kube.stored<Event>(resources.events).map(({ reason, regarding }) => `${reason} ${regarding?.name}`);
  assert.ok(events.includes('SentinelFound node-1') && !events.includes('SentinelFound node-3'), events.join());
});

test('a look that ends at any of its writes is finished by the next one, without a second reboot', async () => {
  const counted = killer();
  const whole = await sentinelStage();
  for (let round = 0; round < 4; round += 1) {
    await whole.step(counted);
    await whole.pass();
  }
  for (const crash of partOf(crashesIn(Math.min(counted.writes(), 14)))) {
    const stage = await sentinelStage();
    const faults = killer(crash);
    for (let round = 0; !faults.struck() && round < 60; round += 1) {
      await stage.step(faults);
      await stage.pass();
    }
    assert.ok(faults.struck(), `${crash.when} ${crash.write}`);
    await looked(stage);
  }
});

test('a sentinel that outlives its reboot, and a look that fails, are told and reboot nothing', async () => {
  const stage = await nodesWorld({ sentinel: {} });
  stage.sentinel('node-1', 'old');
  stage.sentinel('node-2', 'fails');
  await rounds(stage, 6);
  const told = stage.policy().status?.blocked?.map(({ node, reason }) => `${node} ${reason}`);
  assert.deepEqual(told, ['node-1 SentinelStays', 'node-2 LookFailed']);
  assert.equal(stage.reboots.size, 0);
  const made = stage.world.state.kube.journal().filter(({ key }) => key === 'POST jobs').length;
  assert.equal(made, 3, 'one look each, until the next is due');
});

test('an API server that answers nothing about Jobs of looks keeps no node from its reboot', async (t) => {
  const stage = await nodesWorld({ sentinel: {} });
  const { kube } = stage.world.state;
  const get = kube.get.bind(kube);
  t.mock.method(kube, 'get', async (...[resource, namespace, name, options]: Parameters<typeof get>) => {
    if (!name.startsWith('look-')) return get(resource, namespace, name, options);
    throw new KubeError('GET jobs: 403', { class: 'terminal', status: 403, reason: 'Forbidden' });
  });
  stage.ask('node-1');
  await rounds(stage, 40, () => stage.reboots.has('node-1') && grantsOf(stage).length === 0);
  assert.equal(stage.reboots.get('node-1'), 1);
  assert.ok(stage.world.logged.some((line) => line.includes('no node is looked at')));
});

test('without spec.sentinel, while suspended and between looks no Job is asked for', async () => {
  for (const spec of [{}, { sentinel: {}, suspend: true }]) {
    const stage = await nodesWorld(spec);
    await rounds(stage, 3);
    assert.ok(!stage.world.state.kube.journal().some(({ key }) => /jobs$/.test(key)));
  }
  const stage = await nodesWorld({ sentinel: {} });
  await rounds(stage, 6);
  const before = stage.world.state.kube.journal().length;
  const results = await stage.step();
  const asked = stage.world.state.kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
  assert.deepEqual(
    asked.filter((key) => /jobs|pods|etcdclusters/.test(key)),
    [],
  );
  assert.ok(results?.[0]?.nextAt, 'it says when the next look is due');
});
