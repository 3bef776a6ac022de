import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Event, Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../run/part.ts';
import { crashesIn, killer } from '../../support/world/crash.ts';
import { type NodesWorld, nodesWorld } from '../../support/world/nodes.ts';
import { hasQuorum } from '../../support/world/quorum.ts';

/** Whole reboots in the world in memory: real steps, the real agent, and etcd in the pods. */

const nodes = ['node-1', 'node-2', 'node-3'] as const;

/** Until so many reboots are told as done. @throws {AssertionError} with the policy's status when it takes too long. */
async function until(stage: NodesWorld, done: number, limit = 80): Promise<number> {
  for (let passes = 1; passes <= limit; passes += 1) {
    await stage.step();
    await stage.pass();
    const { status } = stage.policy();
    if (status?.done === done && status.inProgress === 0) return passes;
  }
  assert.fail(`not done: ${JSON.stringify(stage.policy().status)}\n${stage.world.logged.slice(-8).join('\n')}`);
}

/** @param late an invocation made its Job too late: its pod finds no order, and it goes by its time to live */
function assertFree(stage: NodesWorld, late = false): void {
  for (const name of nodes) {
    const { spec, metadata } = stage.node(name);
    assert.notEqual(spec?.unschedulable, true, name);
    const left = Object.keys(metadata.annotations ?? {}).filter((key) =>
      /reboot-(granted|cordoned|now|in|ret)/.test(key),
    );
    assert.deepEqual(left, [], name);
  }
  if (!late) assert.deepEqual(stage.world.state.kube.stored(resources.jobs), [], 'no Job is left');
}

/** Without marks, and cordoned until a person uncordons it. */
function assertLeft(stage: NodesWorld): void {
  const node = stage.node('node-1');
  assert.equal(node.spec?.unschedulable, true);
  stage.world.state.kube.seed(resources.nodes, { ...node, spec: {} });
  assertFree(stage, true);
}

test('three nodes reboot once each, one after the other', async () => {
  const stage = await nodesWorld();
  for (const name of nodes) stage.ask(name);
  await until(stage, 3);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1, 'node-3': 1 });
  assertFree(stage);
  assert.equal(stage.policy().status?.conditions?.[0]?.reason, 'NothingToDo');
});

test('a step that dies before or after any of its writes leaves a reboot that is finished', async () => {
  const counted = killer();
  const whole = await nodesWorld();
  whole.ask('node-1');
  for (let passes = 0; whole.policy().status?.done !== 1 && passes < 60; passes += 1) {
    await whole.step(counted);
    await whole.pass();
  }
  assert.ok(counted.writes() >= 10, `${counted.writes()} writes`);
  for (const crash of partOf(crashesIn(counted.writes()))) {
    const stage = await nodesWorld();
    stage.ask('node-1');
    const faults = killer(crash);
    for (let passes = 0; !faults.struck() && passes < 60; passes += 1) {
      await stage.step(faults);
      await stage.pass();
    }
    assert.ok(faults.struck(), `${crash.when} ${crash.write}`);
    if (stage.policy().status?.done !== 1) await until(stage, 1);
    assert.equal(stage.reboots.get('node-1'), 1, `${crash.when} ${crash.write}`);
    assertFree(stage);
  }
});

test('two invocations at once begin with one node, and reboot each node once', async () => {
  const stage = await nodesWorld();
  for (const name of nodes) stage.ask(name);
  for (let passes = 0; stage.policy().status?.done !== 3 && passes < 80; passes += 1) {
    await Promise.all([stage.step(), stage.step()]);
    assert.ok((stage.policy().status?.grants?.length ?? 0) <= 1);
    await stage.pass();
  }
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1, 'node-2': 1, 'node-3': 1 });
  assertFree(stage);
});

test('an invocation that stands still at a write and goes on after the reboot does no harm', async () => {
  for (let place = 0; place < 12; place += 1) {
    const stage = await nodesWorld();
    stage.ask('node-1');
    const frozen = Promise.withResolvers<void>();
    const thawed = Promise.withResolvers<void>();
    let writes = 0;
    const standStill = async () => {
      writes += 1;
      if (writes - 1 !== place) return;
      frozen.resolve();
      await thawed.promise;
    };
    let running: Promise<unknown> = Promise.resolve();
    let isFrozen = false;
    frozen.promise.then(() => {
      isFrozen = true;
    });
    for (let passes = 0; !isFrozen && passes < 30; passes += 1) {
      running = stage.step({ before: standStill });
      await Promise.race([running, frozen.promise]);
      if (!isFrozen) await stage.pass();
    }
    assert.ok(isFrozen, `there is a write ${place}`);
    await until(stage, 1);
    thawed.resolve();
    await running;
    for (let passes = 0; passes < 5; passes += 1) {
      await stage.step();
      await stage.pass();
    }
    assert.equal(stage.reboots.get('node-1'), 1, `at write ${place}`);
    assertFree(stage, true);
  }
});

test('a host that agrees and does not reboot leaves a node that holds the line and says so', async () => {
  const stage = await nodesWorld({ reboot: { timeout: '5m' } });
  stage.ask('node-1');
  stage.ask('node-2');
  stage.deafen('node-1', 'agrees');
  for (let passes = 0; passes < 90; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  const { conditions, grants } = stage.policy().status ?? {};
  assert.deepEqual(
    grants?.map(({ node }) => node),
    ['node-1'],
  );
  assert.deepEqual(
    conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    ['Ready False RebootNotComing', 'Stalled True RebootNotComing'],
  );
  // A person takes the wish away: the node is given back, and the other one goes on.
  stage.withdraw('node-1');
  await until(stage, 1);
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-2': 1 });
  assertFree(stage);
});

test('a host that refuses its reboot, or an agent that dies, is put off, and the others go on', async () => {
  for (const how of ['refuses', 'dies'] as const) {
    const stage = await nodesWorld({ reboot: { timeout: '1m' } });
    if (how === 'refuses') stage.deafen('node-1', how);
    stage.ask('node-1');
    stage.ask('node-2');
    const dying = {
      after: () => {
        throw new Error('killed after the write');
      },
    };
    const putOff = () => stage.node('node-1').metadata.annotations?.[annotations.rebootPutOff];
    for (let passes = 0; putOff() === undefined && passes < 40; passes += 1) {
      await stage.step();
      await stage.pass(how === 'dies' ? dying : {});
    }
    assert.match(putOff() ?? '', / RebootNotBegun$/);
    await until(stage, 1);
    assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-2': 1 });
    assertFree(stage);
  }
});

test('of method External no annotation of a stranger counts before the order is given', async () => {
  const stage = await nodesWorld({ reboot: { method: 'External' } });
  stage.ask('node-1');
  await stage.step();
  const [grant] = stage.policy().status?.grants ?? [];
  stage.annotate('node-1', { [annotations.rebootNow]: `2026-01-02T03:04:05Z ${grant?.id}` });
  await stage.step();
  assert.equal(stage.policy().status?.grants?.[0]?.ordered, undefined);
  for (let passes = 0; passes < 6; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.notEqual(stage.policy().status?.grants?.[0]?.ordered, undefined);
  assert.equal(stage.policy().status?.conditions?.[0]?.reason, 'Rebooting');
});

test('a node that never returns holds the line, also with room for two, until it is back', async () => {
  const stage = await nodesWorld({ maxUnavailable: 2, reboot: { timeout: '5m' } });
  stage.break('node-1', true);
  stage.ask('node-1');
  for (let passes = 0; passes < 20; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  stage.ask('node-2');
  for (let passes = 0; passes < 90; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(stage.policy().status?.conditions?.[0]?.reason, 'NodeNotBack');
  assert.deepEqual(Object.fromEntries(stage.reboots), { 'node-1': 1 });
  stage.break('node-1', false);
  await until(stage, 2);
  assertFree(stage);
});

test('a Job that never comes is taken back: the node takes pods again and is put off', async () => {
  const stage = await nodesWorld({ reboot: { timeout: '5m' } });
  stage.stun('node-1');
  stage.ask('node-1');
  for (let passes = 0; passes < 80; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(stage.reboots.size, 0);
  assert.match(stage.node('node-1').metadata.annotations?.[annotations.rebootPutOff] ?? '', / RebootNotBegun$/);
  assertFree(stage);
});

test('marks and orders of strangers reboot nothing, and cost no pod its place', async () => {
  const stage = await nodesWorld();
  const time = '2026-01-02T03:04:05Z';
  stage.annotate('node-1', {
    [annotations.rebootGranted]: `${time} stranger`,
    [annotations.rebootCordoned]: `${time} by-us`,
    [annotations.rebootNow]: `${time} stranger`,
    [annotations.rebootInProgress]: `${time} node-1-boot-0`,
  });
  const before = stage.world.state.kube.journal().length;
  for (let passes = 0; passes < 3; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  const written = stage.world.state.kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
  assert.ok(!written.some((key) => /POST (jobs|pods\/eviction)|DELETE pods/.test(key)), written.join());
  assert.equal(stage.reboots.size, 0);
});

test('a member that is down elsewhere keeps a node from its reboot, and is healed first', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  stage.world.holdUp((pod) => (pod.metadata.name === 'orders-2-0' ? 'Loading' : undefined));
  stage.world.kill('orders-2-0');
  stage.world.settle();
  for (let passes = 0; passes < 5; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(stage.reboots.size, 0);
  assert.match(stage.policy().status?.conditions?.[0]?.reason ?? '', /^(ClusterBusy|MemberDown)$/);
  stage.world.holdUp(() => undefined);
  await until(stage, 1);
});

test('a cluster of one keeps its node, and names what to do, until it may lose its quorum', async () => {
  const stage = await nodesWorld({}, 1);
  stage.ask('node-1');
  for (let passes = 0; passes < 3; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  const [ready] = stage.policy().status?.conditions ?? [];
  assert.equal(ready?.reason, 'QuorumNeedsNode');
  assert.match(ready?.message ?? '', /shop\/orders has one member: .*spec\.allowDowntimeOf/);
  const { kube } = stage.world.state;
  const policy = stage.policy();
  kube.seed(resources.nodePolicies, { ...policy, spec: { ...policy.spec, allowDowntimeOf: ['shop/orders'] } });
  await until(stage, 1);
});

test('a suspended cluster keeps its node for a day at most, once the policy names it', async () => {
  const stage = await nodesWorld();
  const { world } = stage;
  const passes = async (count: number) => {
    for (let pass = 0; pass < count; pass += 1) {
      await stage.step();
      await stage.pass();
    }
  };
  await world.apply({ suspend: true });
  stage.ask('node-1');
  await passes(2);
  world.advance(25 * 3600);
  await passes(2);
  assert.equal(stage.policy().status?.blocked?.[0]?.reason, 'ClusterStopped');
  assert.equal(stage.reboots.size, 0, 'no person let it be down');
  const policy = stage.policy();
  const spec = { ...policy.spec, allowDowntimeOf: ['shop/orders'] };
  world.state.kube.seed(resources.nodePolicies, { ...policy, spec });
  await passes(2);
  world.advance(23 * 3600);
  await passes(2);
  assert.equal(stage.reboots.size, 0, 'its time is not over');
  world.advance(2 * 3600);
  await until(stage, 1);
  assert.equal(stage.reboots.get('node-1'), 1);
});

test('a cluster that is made smaller at any moment of a drain keeps its quorum', async () => {
  for (let place = 0; place < 10; place += 1) {
    const stage = await nodesWorld({ drain: { timeout: '2m' } });
    const { world } = stage;
    stage.ask('node-2');
    for (let passes = 0; passes < 40; passes += 1) {
      if (passes === place) await world.apply({ replicas: 1 });
      // The steps of the cluster and of the node side by side, as in one pass.
      await Promise.all([stage.step(), world.tick()]);
      await stage.pass();
      for (const [clusterId, { members }] of world.state.formations)
        if (members.length > 1) assert.ok(hasQuorum(world.state, clusterId), `sized at ${place}, lost at ${passes}`);
    }
  }
});

test('no member leaves where a step of its cluster was begun since the node was looked at', async () => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  stage.ask('node-2');
  // Whatever is written to it, as a lease is: its version is another one.
  let moved = 0;
  const moves = (write: number) => {
    if (write > 0) return;
    moved += 1;
    for (const { metadata, ...rest } of kube.stored<EtcdCluster>(resources.clusters))
      kube.seed(resources.clusters, { ...rest, metadata: { ...metadata, annotations: { moved: String(moved) } } });
  };
  for (let passes = 0; passes < 12; passes += 1) {
    await stage.step({ before: moves });
    await stage.pass();
  }
  assert.equal(stage.reboots.size, 0);
  assert.ok(!kube.journal().some(({ key }) => /eviction/.test(key)));
  await until(stage, 1);
});

test('a node that is uncordoned after its order is not rebooted while another member is down', async () => {
  const stage = await nodesWorld();
  const { world } = stage;
  stage.ask('node-1');
  const isOrdered = () => stage.node('node-1').metadata.annotations?.[annotations.rebootNow] !== undefined;
  for (let passes = 0; !isOrdered() && passes < 20; passes += 1) {
    await stage.step();
    if (!isOrdered()) await stage.pass();
  }
  // A person uncordons it, its member comes back, and another member goes down; then the agent gets to run.
  world.state.kube.seed(resources.nodes, { ...stage.node('node-1'), spec: {} });
  world.holdUp((pod) => (pod.metadata.name === 'orders-2-0' ? 'Loading' : undefined));
  world.settle();
  world.kill('orders-2-0');
  world.settle();
  for (let passes = 0; passes < 6; passes += 1) {
    await stage.pass();
    await stage.step();
  }
  assert.equal(stage.reboots.size, 0);
  assert.equal(isOrdered(), false);
  world.holdUp(() => undefined);
  await until(stage, 1);
});

test('an order stands no more once the node was cordoned again', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  const isOrdered = () => stage.node('node-1').metadata.annotations?.[annotations.rebootNow] !== undefined;
  for (let passes = 0; !isOrdered() && passes < 20; passes += 1) {
    await stage.step();
    if (!isOrdered()) await stage.pass();
  }
  stage.world.state.kube.seed(resources.nodes, { ...stage.node('node-1'), spec: {} });
  await stage.step();
  assert.deepEqual([stage.node('node-1').spec?.unschedulable, isOrdered()], [true, false]);
});

test('a node whose policy is deleted on its way loses its marks, and a person uncordons it', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  await stage.step();
  await stage.step();
  assert.equal(stage.node('node-1').spec?.unschedulable, true);
  stage.world.state.kube.remove(resources.nodePolicies, undefined, 'all');
  for (let passes = 0; passes < 30; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(stage.reboots.size, 0);
  assertLeft(stage);
});

test('a node that is going down when its policy is deleted loses its marks with its next boot', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  for (let passes = 0; stage.reboots.size === 0 && passes < 30; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  stage.world.state.kube.remove(resources.nodePolicies, undefined, 'all');
  for (let passes = 0; passes < 30; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assertLeft(stage);
});

test('marks of a stranger do not uncordon a node that a person has cordoned', async () => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  const time = '2020-01-02T03:04:05Z';
  kube.seed(resources.nodes, { ...stage.node('node-1'), spec: { unschedulable: true } });
  stage.annotate('node-1', {
    [annotations.rebootGranted]: `${time} stranger`,
    [annotations.rebootCordoned]: `${time} by-us`,
  });
  await stage.step();
  const { spec, metadata } = stage.node('node-1');
  assert.equal(spec?.unschedulable, true);
  assert.equal(metadata.annotations?.[annotations.rebootGranted], undefined);
  const [event] = kube.stored<Event>(resources.events);
  assert.match(`${event?.type} ${event?.reason} ${event?.note}`, /^Warning PolicyGone .*kubectl uncordon node-1/);
});

test('a wish that is taken away on the way gives the node back, and a new one is granted at once', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  await stage.step();
  await stage.step();
  stage.withdraw('node-1');
  await stage.step();
  assert.notEqual(stage.node('node-1').spec?.unschedulable, true);
  stage.ask('node-1', 'another kernel');
  await until(stage, 1);
  assert.equal(stage.reboots.get('node-1'), 1);
  assertFree(stage);
});

test('a node that a person had cordoned is cordoned in the end as well', async () => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  // Its member has no place then: a cluster without one there is what this is about.
  kube.seed(resources.nodes, {
    metadata: { name: 'node-4', uid: 'uid-4' },
    spec: { unschedulable: true },
    status: stage.node('node-1').status,
  } as Node);
  stage.ask('node-4');
  await until(stage, 1);
  assert.equal(stage.node('node-4').spec?.unschedulable, true);
});

test('a node that was not put off is not left out behind fifty that were', async () => {
  const stage = await nodesWorld();
  const { kube, clock } = stage.world.state;
  const time = `${new Date(clock()).toISOString().slice(0, 19)}Z`;
  const found = {
    [annotations.rebootNeeded]: 'kernel',
    [annotations.rebootPutOff]: `${time} DrainTimedOut`,
  };
  for (let index = 10; index < 65; index += 1) {
    const metadata = { name: `a-${index}`, uid: `uid-${index}`, annotations: found };
    kube.seed(resources.nodes, { metadata, spec: {}, status: stage.node('node-1').status } as Node);
  }
  stage.ask('node-1');
  await stage.step();
  assert.equal(stage.policy().status?.grants?.[0]?.node, 'node-1');
});

test('a step whose look took too long writes nothing to a node', async (t) => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  stage.ask('node-1');
  let late = 0;
  const [now, list] = [performance.now.bind(performance), kube.list.bind(kube)];
  t.mock.method(performance, 'now', () => now() + late);
  t.mock.method(kube, 'list', (...[resource, options]: Parameters<typeof list>) => {
    if (options.fieldSelector !== undefined) late = 21_000;
    return list(resource, options);
  });
  await stage.step();
  assert.notEqual(late, 0);
  assert.equal(stage.policy().status?.grants, undefined);
  assert.equal(stage.node('node-1').metadata.annotations?.[annotations.rebootGranted], undefined);
});

test('an API server that has too much to do is not told as a disruption budget that refuses', async (t) => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  stage.ask('node-1');
  t.mock.method(kube, 'evict', async () => {
    const facts = { class: 'retryable', status: 429, reason: 'TooManyRequests' } as const;
    throw new KubeError('POST pods/eviction: 429 Too many requests, please try again later', facts);
  });
  for (let passes = 0; passes < 5; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  const [blocked] = stage.policy().status?.blocked ?? [];
  assert.equal(blocked?.reason, 'EvictingMembers');
  assert.match(blocked?.message ?? '', /Too many requests/);
});

test('a Job that the API server refuses is named, and the node goes on when it is let in', async (t) => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  stage.ask('node-1');
  const create = kube.create.bind(kube);
  const refusing = t.mock.method(kube, 'create', (async (resource, object, options) => {
    if (resource.kind !== resources.jobs.kind) return await create(resource, object, options);
    const facts = { class: 'terminal', status: 403, reason: 'Forbidden' } as const;
    throw new KubeError('POST jobs: 403 exceeded quota: no-jobs', facts);
  }) satisfies typeof kube.create);
  const blocked = () => stage.policy().status?.blocked?.[0];
  for (let passes = 0; blocked()?.reason !== 'JobRefused' && passes < 40; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(blocked()?.reason, 'JobRefused', JSON.stringify(stage.policy().status));
  assert.match(blocked()?.message ?? '', /exceeded quota: no-jobs/);
  refusing.mock.restore();
  await until(stage, 1);
  assertFree(stage);
});
