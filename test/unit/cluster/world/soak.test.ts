import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import type { World } from '../../../support/world/world.ts';

/** One member keeps its minor while all others run the next. */

const hour = 3600;
const soak = { version: '3.6.16', update: { soak: '72h' } } as const;

const versions = (world: World) => [...world.processes.values()].map(({ version }) => version).toSorted();
/** Of `shop/orders-1-0`. */
const volumeOf = (pod: string) => pod.replace(/^.*\/(.*)-0$/, '$1');
const podOf = (pod: string) => `${volumeOf(pod)}-0`;
const statusOf = (world: World) => world.cluster()?.status;
const reasonOf = (world: World) => statusOf(world)?.lastDecision?.reason;

/** Looks every quarter of a minute, for as long as it takes; returns the reasons in their order. */
async function look(world: World, seconds: number, every = 15): Promise<readonly string[]> {
  const reasons: string[] = [];
  for (let passed = 0; passed < seconds; passed += every) {
    world.settle();
    const result = await world.tick();
    assert.deepEqual(world.violations, []);
    if (result && result.reason !== reasons.at(-1)) reasons.push(result.reason);
    world.advance(every);
  }
  return reasons;
}

const membersOn = (world: World, version: string) =>
  [...world.processes.values()].filter((process) => process.version === version).map(({ pod }) => volumeOf(pod));

/** Members of 3.5, of which all but one got 3.6. */
async function soaking(spec: Parameters<World['apply']>[0] = {}): Promise<World> {
  const { replicas = 3 } = spec;
  const world = await bornWith({ replicas, version: '3.5.35' });
  await world.apply({ ...soak, ...spec });
  assert.deepEqual((await look(world, 5 * 60)).at(-1), 'Soaking');
  assert.deepEqual(versions(world), ['3.5.35', ...Array<string>(replicas - 1).fill('3.6.16')]);
  return world;
}

test('the last member keeps its minor for as long as that is to soak, and then all have it', async () => {
  const world = await soaking();
  assert.deepEqual(statusOf(world)?.soak?.version, '3.6.16');
  const since = Date.parse(statusOf(world)?.soak?.since ?? '');
  world.advance((since - world.now()) / 1000 + 72 * hour - 60);
  await world.tick();
  assert.equal(reasonOf(world), 'Soaking');
  const until = new Date(since + 72 * hour * 1000).toISOString().replace('.000', '');
  assert.match(
    statusOf(world)?.lastDecision?.message ?? '',
    new RegExp(`^orders-\\d stays on etcd 3\\.5\\.35 until ${until}, as spec\\.update\\.soak asks; every other`),
  );
  assert.equal(statusOf(world)?.plan?.state, 'UnderWay');
  world.advance(61);
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
  assert.equal(statusOf(world)?.soak, undefined);
  assert.equal(statusOf(world)?.plan?.state, 'AsPlanned');
});

test('the plan says until when the last step waits', async () => {
  const world = await bornWith({ version: '3.5.35' });
  const { planned } = await world.plan({ ...soak });
  const upgrades = (planned?.steps ?? []).filter(({ reason }) => reason === 'UpgradingMember');
  const before = upgrades.map(({ notBefore }) => notBefore !== undefined);
  assert.deepEqual(before, [false, false, true]);
  assert.equal(planned?.end.kind, 'done');
});

test('going back needs no downgrade as long as it soaks', async () => {
  const world = await soaking();
  await world.apply({ ...soak, version: '3.5.35' });
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.deepEqual(new Set(versions(world)), new Set(['3.5.35']));
  assert.equal(statusOf(world)?.soak, undefined);
});

test('neither a restart nor another commit gives the last member another version', async () => {
  const world = await soaking();
  const [kept = assert.fail()] = [...world.processes.values()].filter(({ version }) => version === '3.5.35');
  world.kill(podOf(kept.pod));
  await look(world, 10 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.6.16', '3.6.16']);
  await world.apply({ ...soak, etcd: { snapshotCount: 5000 } });
  world.kill(podOf(kept.pod));
  await look(world, 10 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.6.16', '3.6.16']);
  assert.equal(reasonOf(world), 'Soaking');
});

test('a member that is replaced meanwhile starts on the minor before, and all follow afterwards', async () => {
  const world = await soaking();
  const [lost = assert.fail()] = [...world.processes.values()].filter(({ version }) => version === '3.6.16');
  const { since } = statusOf(world)?.soak ?? {};
  world.loseVolume(volumeOf(lost.pod));
  await look(world, 30 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.5.35', '3.6.16']);
  assert.deepEqual([reasonOf(world), statusOf(world)?.soak?.since], ['Soaking', since]);
  world.advance(72 * hour);
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assertOneCluster(world, 3);
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
});

test('where the member that stays is lost, its replacement has the next minor: the soak is over', async () => {
  const world = await soaking();
  const [kept = assert.fail()] = [...world.processes.values()].filter(({ version }) => version === '3.5.35');
  world.loseVolume(volumeOf(kept.pod));
  await look(world, 30 * 60);
  assert.equal(reasonOf(world), 'Converged');
  assertOneCluster(world, 3);
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
});

/** etcd of 3.5 ends at each start from now on. */
function breakTheOneBefore(world: World): void {
  world.dieWhen(({ spec }) => spec.containers.some(({ image }) => image?.endsWith(':v3.5.35')));
  for (const member of membersOn(world, '3.5.35')) world.kill(`${member}-0`);
}

test('a member that fails on the minor that it keeps gets the next one when the soak is over', async () => {
  const world = await soaking();
  breakTheOneBefore(world);
  await look(world, 10 * 60);
  assert.deepEqual(versions(world), ['3.6.16', '3.6.16']);
  world.advance(72 * hour);
  assert.equal((await look(world, 5 * 60)).at(-1), 'Converged');
  assert.deepEqual(versions(world), ['3.6.16', '3.6.16', '3.6.16']);
});

test('where no quorum is left because the minor before fails, no member is kept on it (I15)', async () => {
  const world = await soaking();
  world.loseVolume(membersOn(world, '3.6.16')[0] ?? '');
  await look(world, 30 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.5.35', '3.6.16']);
  breakTheOneBefore(world);
  assert.deepEqual(await look(world, 5 * 60), ['CuringConfiguration', 'RecordingVersion', 'Converged']);
});

test('a power failure on the way leaves one member on the minor before', async () => {
  const world = await bornWith({ version: '3.5.35' });
  await world.apply({ ...soak });
  world.settle();
  await world.tick();
  world.settle();
  assert.deepEqual(versions(world), ['3.5.35', '3.5.35', '3.6.16']);
  const down = new Set(membersOn(world, '3.5.35').map((member) => `${member}-0`));
  for (const pod of down) world.kill(pod);
  world.holdUp(({ metadata }) => (down.has(metadata.name) ? 'FailedMount' : undefined));
  await look(world, 5 * 60);
  world.holdUp(() => undefined);
  assert.equal((await look(world, 5 * 60)).at(-1), 'Soaking');
  assert.deepEqual(versions(world), ['3.5.35', '3.6.16', '3.6.16']);
});

test('in place of a member that a person removed another one joins, and the soak goes on', async () => {
  const world = await soaking();
  const { since } = statusOf(world)?.soak ?? {};
  const [removed = assert.fail()] = membersOn(world, '3.6.16');
  const [formation = assert.fail()] = world.formations.values();
  const gone = formation.members.find(({ url }) => url.includes(`//${removed}-0.`)) ?? assert.fail();
  formation.members = formation.members.filter((member) => member !== gone);
  formation.removed.add(gone.id);
  await look(world, 10 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.6.16', '3.6.16']);
  assert.ok(!membersOn(world, '3.6.16').includes(removed));
  assert.deepEqual([reasonOf(world), statusOf(world)?.soak?.since], ['Soaking', since]);
});

test('a replacement of the minor before that comes too late for it has the next one', async () => {
  const world = await soaking({ replicas: 5 });
  world.loseVolume(membersOn(world, '3.6.16')[0] ?? '');
  for (let looks = 0; looks < 100; looks += 1) {
    await look(world, 15);
    if (statusOf(world)?.history?.at(-1)?.reason === 'ReplacingMember') break;
  }
  world.loseVolume(membersOn(world, '3.5.35')[0] ?? '');
  await look(world, 30 * 60);
  assert.deepEqual([reasonOf(world), statusOf(world)?.soak], ['Converged', undefined]);
  assertOneCluster(world, 5);
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
  assert.ok(!statusOf(world)?.history?.some(({ reason }) => reason === 'RemovingFailedLearner'), 'it was not given up');
});

test('a cluster that hibernates meanwhile wakes as it was, and the time goes on', async () => {
  const world = await soaking();
  const { soak: begun } = statusOf(world) ?? {};
  await world.apply({ ...soak, replicas: 0 });
  assert.equal((await look(world, 5 * 60)).at(-1), 'Hibernating');
  await world.apply({ ...soak });
  assert.equal((await look(world, 5 * 60)).at(-1), 'Soaking');
  assert.deepEqual(versions(world), ['3.5.35', '3.6.16', '3.6.16']);
  assert.deepEqual(statusOf(world)?.soak, begun);
});

test('a clock that was ahead when the soak began makes it no longer', async () => {
  const world = await soaking();
  const cluster = world.cluster() ?? assert.fail();
  const ahead = { ...cluster.status, soak: { version: '3.6.16', since: '2036-01-01T00:00:00Z' } };
  world.kube.seed(resources.clusters, { ...cluster, status: ahead });
  await look(world, 60);
  assert.equal(reasonOf(world), 'Soaking');
  world.advance(72 * hour);
  assert.equal((await look(world, 5 * 60)).at(-1), 'Converged');
});

test('another patch of the next minor soaks anew', async () => {
  const world = await soaking();
  const { since } = statusOf(world)?.soak ?? {};
  world.advance(60 * hour);
  await world.apply({ ...soak, version: '3.6.17' });
  await look(world, 10 * 60);
  assert.deepEqual(versions(world), ['3.5.35', '3.6.17', '3.6.17']);
  assert.equal(statusOf(world)?.soak?.version, '3.6.17');
  assert.notEqual(statusOf(world)?.soak?.since, since);
});

test('without the field, between patches and in small clusters nothing waits', async () => {
  const world = await soaking();
  await world.apply({ version: '3.6.16' });
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
  for (const [replicas, from, to] of [
    [2, '3.5.35', '3.6.16'],
    [3, '3.6.16', '3.6.17'],
  ] as const) {
    const small = await bornWith({ replicas, version: from });
    await small.apply({ ...soak, replicas, version: to });
    const { trail } = await tickUntilConverged(small);
    assert.ok(!trail.join().includes('Soaking'), trail.join('\n'));
  }
});

test('after the soak the rest waits for a window, as what begins', async () => {
  const maintenance = { windows: [{ start: '0 3 * * *', duration: '2h' }] };
  const world = await soaking({ maintenance });
  const since = Date.parse(statusOf(world)?.soak?.since ?? '');
  // At four in the morning, on the third day after.
  world.advance((since - world.now()) / 1000 + 72 * hour + 3 * hour);
  await world.tick();
  assert.equal(reasonOf(world), 'OutsideWindows');
  await look(world, 26 * hour, 600);
  assert.deepEqual(new Set(versions(world)), new Set(['3.6.16']));
});
