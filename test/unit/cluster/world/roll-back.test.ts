import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations, labels } from '../../../../manifests/render/names.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../../run/part.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { type Crash, sample, text } from '../../../support/world/crash.ts';
import { theirs } from '../../../support/world/invariants.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { writesInSnapshot } from '../../../support/world/restore.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/**
 * A rollback that a person approved, whose invocation dies or freezes at any write. The world looks at every write, and
 * between any two, whether members of both clusters run, or what serves is stopped before its data are there.
 */

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };

interface Before {
  readonly world: World;
  readonly clusterId: string;
}

/** A cluster beside others of the namespace, whose spec asks for a rollback. */
async function asking(replicas: number): Promise<Before> {
  const world = await bornWith({ replicas });
  const clusterId = clusterIdOf(world);
  seedNeighbours(world);
  await world.apply({ replicas, rollback: { clusterID: clusterId, snapshot } });
  return { world, clusterId };
}

/** The same, and a person has set what the refusal says. */
async function approved(replicas: number): Promise<Before> {
  const start = await asking(replicas);
  const { world } = start;
  const asked = await tickUntilConverged(world);
  assert.equal(asked.reason, 'RollbackNotApproved', asked.trail.join('\n'));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  const [approval, ...more] = world.cluster()?.status?.approvals ?? [];
  assert.deepEqual([approval?.annotation, approval?.reason, more], [annotations.rollBack, 'RollbackNotApproved', []]);
  assert.match(approval?.loses ?? '', /is given up, and with it everything that was written after/);
  assert.ok(stalled?.message.endsWith(`${annotations.rollBack}=${approval?.value}`), stalled?.message);
  await annotate(world, approval?.value);
  return start;
}

async function annotate(world: World, text: string | undefined): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const { [annotations.rollBack]: _, ...rest } = cluster.metadata.annotations ?? {};
  const given = { ...rest, ...(text !== undefined && { [annotations.rollBack]: text }) };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}

function clusterIdOf(world: World): string {
  return world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
}

/** Of another cluster, whose name begins like ours. */
const neighbours = [
  [resources.volumeClaims, 'orders-eu-0', { spec: { volumeName: 'theirs' } }],
  [resources.statefulSets, 'orders-eu-0', { spec: { template: { metadata: {}, spec: { containers: [] } } } }],
  [resources.pods, 'orders-eu-0-0', { spec: { containers: [] } }],
  [resources.jobs, 'orders-eu-0-restore', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }],
  [resources.services, 'orders-eu', {}],
  [resources.configMaps, 'orders-eu-0', { immutable: true }],
] as const satisfies readonly (readonly [Resource, string, object])[];

/** The world tells of every write to what bears that annotation. */
function seedNeighbours(world: World): void {
  for (const [resource, name, rest] of neighbours) {
    const metadata = {
      ...{ name, namespace, uid: `theirs-${name}`, annotations: { [theirs]: 'yes' } },
      labels: { [labels.cluster]: 'orders-eu', [labels.peer]: 'orders-eu-0' },
    };
    world.kube.seed<KubeObject>(resource, { ...rest, metadata });
  }
}

/** Each member that runs has a peer, no other has one, and no Job is left; others' objects are as they were. */
function assertNothingBesides(world: World, story: string): void {
  const running = [...world.processes.values()].map(({ pod }) => pod.split('/')[1]?.replace(/-0$/, ''));
  const peers = world.kube.stored(resources.peers).map(({ metadata }) => metadata.name);
  assert.deepEqual(peers.toSorted(), running.toSorted(), `peers: ${story}`);
  assert.equal(world.kube.stored(resources.jobs).length, 1, `no Job of ours is left: ${story}`);
  assertNeighboursStay(world, story);
}

function assertNeighboursStay(world: World, story: string): void {
  for (const [resource, name] of neighbours) {
    const found = world.kube.stored(resource).find(({ metadata }) => metadata.name === name);
    assert.equal(found?.metadata.uid, `theirs-${name}`, `${resource.plural}: ${story}`);
    assert.equal(found.metadata.deletionTimestamp, undefined, `${resource.plural} ${name}: ${story}`);
  }
}

function ours(world: World): readonly PersistentVolumeClaim[] {
  return world.claims().filter(({ metadata }) => metadata.labels?.[labels.cluster] === 'orders');
}

function stateOf({ metadata }: PersistentVolumeClaim): string {
  const read = readVolumeRecord(metadata.annotations);
  return read.kind === 'valid' ? read.record.state : read.kind;
}

/** The snapshot's data under a new cluster ID, of as many members; the former volumes are kept, and none runs. */
function assertRolledBack(world: World, { clusterId }: Before, replicas: number, story: string): void {
  const others = Array.from({ length: replicas - 1 }, (_, index) => `orders-${replicas + 1 + index}`);
  assertWhole(world, [`orders-${replicas}`, ...others], story);
  const [process] = world.processes.values();
  assert.notEqual(process?.data.clusterId, clusterId, story);
  assert.ok((process?.data.applied ?? 0) >= writesInSnapshot, `it has what the snapshot holds: ${story}`);
  const states = ours(world).map((claim) => `${claim.metadata.name} ${stateOf(claim)}`);
  const former = Array.from({ length: replicas }, (_, index) => `orders-${index} superseded`);
  const present = [`orders-${replicas}`, ...others].map((name) => `${name} sealed`);
  assert.deepEqual(states.toSorted(), [...former, ...present].toSorted(), story);
  assertNothingBesides(world, story);
}

/** As if nothing had been asked for. */
function assertAsItWas(world: World, { clusterId }: Before, replicas: number, story: string): void {
  assertWhole(
    world,
    Array.from({ length: replicas }, (_, index) => `orders-${index}`),
    story,
  );
  for (const { data } of world.processes.values()) assert.equal(data.clusterId, clusterId, story);
  assert.deepEqual(ours(world).map(stateOf), Array(replicas).fill('sealed'), story);
  assertNothingBesides(world, story);
}

async function toItsEnd(world: World, place: Crash): Promise<string> {
  try {
    const end = await tickUntilConverged(world, { limit: 400 });
    return `${text(place)}: ${end.kind} ${end.reason}\n${end.trail.join('\n')}`;
  } catch (error) {
    throw new Error(text(place), { cause: error });
  }
}

for (const replicas of [1, 3]) {
  describe(`a rollback of ${replicas}`, () => {
    let start: Before;
    let life: Life;

    before(async () => {
      start = await approved(replicas);
      life = await lifeOf(start.world.fork());
      assert.ok(life.writes > 30, `${life.writes} writes`);
    });

    test('gives the data of the snapshot to a new etcd cluster, and lets go of the former', async () => {
      const world = start.world.fork();
      const end = await tickUntilConverged(world, { limit: 400 });
      assertRolledBack(world, start, replicas, end.trail.join('\n'));
    });

    test('its invocation dies before or after any write: the next ones finish it', async () => {
      for (const crash of every(life)) {
        const { world, struck } = await life.killedAt(crash);
        assert.ok(struck, text(crash));
        assertRolledBack(world, start, replicas, await toItsEnd(world, crash));
      }
    });

    test('an invocation that freezes at any write, and wakes when others are done, changes nothing', async () => {
      for (const place of every(life, 1)) {
        const { world, frozen } = await life.frozenAt(place);
        assert.ok(frozen, text(place));
        world.advance(31);
        assertRolledBack(world, start, replicas, await toItsEnd(world, place));
        const finished = whatServes(world);
        await frozen.wake();
        const story = await toItsEnd(world, place);
        assertRolledBack(world, start, replicas, story);
        assert.deepEqual(whatServes(world), finished, story);
      }
    });

    test('its invocation dies at any write, and the approval goes: it is called off, or finished', async () => {
      const ends = { calledOff: 0, finished: 0 };
      for (const crash of every(life, 1)) {
        const { world } = await life.killedAt(crash);
        const isOver = isConcluded(world);
        await annotate(world, undefined);
        const story = await toItsEnd(world, crash);
        if (isOver) assertRolledBack(world, start, replicas, story);
        else assertAsItWas(world, start, replicas, story);
        ends[isOver ? 'finished' : 'calledOff'] += 1;
      }
      assert.ok(ends.calledOff > 1 && ends.finished > 1, JSON.stringify(ends));
    });

    test('an invocation that freezes at any write, and wakes when it is called off, changes nothing', async () => {
      for (const place of every(life)) {
        const { world, frozen } = await life.frozenAt(place);
        assert.ok(frozen, text(place));
        if (isConcluded(world)) continue;
        await annotate(world, undefined);
        world.advance(31);
        const story = await toItsEnd(world, place);
        assertAsItWas(world, start, replicas, story);
        const before = whatServes(world);
        await frozen.wake();
        assertAsItWas(world, start, replicas, await toItsEnd(world, place));
        assert.deepEqual(whatServes(world), before, story);
      }
    });
  });
}

describe('a rollback that is called off', () => {
  let start: Before;
  let life: Life;
  let approval: string | undefined;

  before(async () => {
    start = await approved(1);
    const { world } = start;
    for (let ticks = 0; ticks < 2; ticks += 1) {
      await world.tick();
      world.round();
    }
    approval = world.cluster()?.metadata.annotations?.[annotations.rollBack];
    assert.equal(world.kube.stored(resources.jobs).length, 2, 'its Job is there');
    await annotate(world, undefined);
    life = await lifeOf(world.fork());
    assert.ok(life.writes > 4, `${life.writes} writes`);
  });

  test('its invocation dies at any write: the next ones call it off', async () => {
    for (const crash of partOf(life.places)) {
      const { world } = await life.killedAt(crash);
      assertAsItWas(world, start, 1, await toItsEnd(world, crash));
    }
  });

  test('its invocation dies or freezes at any write, and it is approved anew: it is finished', async () => {
    for (const place of partOf(life.places)) {
      const { world } = await life.killedAt(place);
      await annotate(world, approval);
      assertRolledBack(world, start, 1, await toItsEnd(world, place));
      const late = await life.frozenAt(place);
      assert.ok(late.frozen, text(place));
      await annotate(late.world, approval);
      late.world.advance(31);
      assertRolledBack(late.world, start, 1, await toItsEnd(late.world, place));
      const finished = whatServes(late.world);
      await late.frozen.wake();
      assertRolledBack(late.world, start, 1, await toItsEnd(late.world, place));
      assert.deepEqual(whatServes(late.world), finished, text(place));
    }
  });
});

/** Of a cluster of three every fourth, and of a smaller one all. */
function every({ places, writes }: Life, offset = 0): readonly Crash[] {
  return writes > 60 ? sample(places, 4, offset) : partOf(places);
}

/** A volume that gives up a cluster has its data. */
function isConcluded(world: World): boolean {
  return ours(world).some(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' && read.record.gaveUp !== undefined && read.record.state !== 'restoring';
  });
}

/** Which volumes there are, what is on them, who runs, how often each was started, and who is on etcd's list. */
function whatServes(world: World): object {
  const volumes = ours(world).map((claim) => [claim.metadata.name, claim.metadata.uid, stateOf(claim)]);
  const running = [...world.processes.values()].map(({ pod, address, data }) => [pod, address, data.memberId]);
  const lists = [...world.formations].map(([id, { members }]) => [id, members]);
  return { volumes, running, lists, starts: [...world.starts] };
}
