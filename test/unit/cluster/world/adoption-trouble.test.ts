import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { approveLeaving, assertTakenOver, besideOthers, oursOnTheList } from '../../../support/world/adoption.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import {
  addOther,
  beginAnew,
  namesOnTheirList,
  removeOther,
  startOther,
  stopOther,
  theyServe,
} from '../../../support/world/others.ts';
import { namespace, type World } from '../../../support/world/world.ts';

const old = ['legacy-a', 'legacy-b', 'legacy-c'];
const ours = ['orders-0', 'orders-1', 'orders-2'];

describe('an operator that still runs', () => {
  test('adds a member while ours join: nothing joins or leaves until it is off the list', async () => {
    const world = await besideOthers(old, 3);
    await untilOurs(world, 1);
    addOther(world, 'legacy-d');
    assert.equal(await rests(world), 'refuse UnknownMember');
    assert.equal(oursOnTheList(world).length, 1);
    removeOther(world, 'legacy-d');
    assert.equal(await rests(world), 'refuse AdoptionNotApproved');
  });

  test('adds a member for each that leaves: the others stay, and the message names what to stop', async () => {
    const world = await besideOthers(old, 3);
    await approveLeaving(world);
    let added = false;
    const meanwhile = async () => {
      if (added || namesOnTheirList(world).filter((one) => old.includes(one)).length === 3) return;
      added = true;
      addOther(world, 'legacy-d');
    };
    const { reason, kind } = await tickUntilConverged(world, { meanwhile });
    assert.deepEqual([kind, reason], ['refuse', 'UnknownMember']);
    assert.match(readyOf(world.cluster())?.message ?? '', /stop what manages/);
    assert.equal(namesOnTheirList(world).filter((one) => old.includes(one)).length, 2);
    removeOther(world, 'legacy-d');
    assert.equal(await rests(world), 'done Converged');
    assertTakenOver(world, 3, 'after it was stopped');
  });

  test('starts a pod without a volume again, which begins an empty cluster: it is never joined', async () => {
    const world = await besideOthers(old, 3);
    await approveLeaving(world);
    const begun = new Set<string>();
    const meanwhile = async () => {
      const listed = namesOnTheirList(world);
      for (const pod of old.filter((one) => !listed.includes(one) && !begun.has(one))) {
        begun.add(pod);
        beginAnew(world, pod);
      }
    };
    const { kind } = await tickUntilConverged(world, { meanwhile });
    assert.equal(kind, 'done');
    assert.deepEqual(namesOnTheirList(world), ours);
    assert.deepEqual(
      ofOurs(world),
      ours.map(() => 'of the old cluster'),
    );
  });
});

describe('the old cluster changes while ours join', () => {
  test('it loses its quorum: nothing is done or offered, and it goes on when they are back', async () => {
    const world = await besideOthers(old, 3);
    await untilOurs(world, 1);
    world.state.watchful = false;
    for (const pod of old.slice(0, 2)) stopOther(world, pod);
    const before = world.kube.journal().length;
    assert.match(await rests(world), /^refuse (ExistingUnreachable|InheritedMemberDown|QuorumLost)$/);
    assert.deepEqual(recoveriesOffered(world), []);
    assert.deepEqual(deletedSince(world, before), []);
    for (const pod of old.slice(0, 2)) startOther(world, pod);
    assert.equal(await rests(world), 'refuse AdoptionNotApproved');
    await approveLeaving(world);
    assert.equal(await rests(world), 'done Converged');
    assertTakenOver(world, 3, 'after the others were back');
  });

  test('it is scaled down by one: the member that left is asked for no more, and the rest goes on', async () => {
    const world = await besideOthers(old, 3);
    await untilOurs(world, 1);
    removeOther(world, 'legacy-a');
    assert.equal(await rests(world), 'refuse AdoptionNotApproved');
    await approveLeaving(world);
    assert.equal(await rests(world), 'done Converged');
    assertTakenOver(world, 3, 'after it was scaled down');
  });

  test('it is scaled down before any of ours joined: it is not joined, and memberIDs is named', async () => {
    const world = await besideOthers(old, 3);
    removeOther(world, 'legacy-a');
    assert.equal(await rests(world), 'refuse ExistingNotFit');
    assert.match(readyOf(world.cluster())?.message ?? '', /memberIDs/);
    assert.deepEqual(oursOnTheList(world), []);
  });

  test('all pods without volumes restart at once: ours do not join the empty cluster', async () => {
    const world = await besideOthers(['legacy-a'], 3);
    await untilOurs(world, 1);
    world.state.watchful = false;
    beginAnew(world, 'legacy-a');
    assert.match(await rests(world), /^refuse (ExistingUnreachable|InheritedMemberDown|QuorumLost)$/);
    assert.deepEqual(ofOurs(world), ['of the old cluster']);
    assert.deepEqual(recoveriesOffered(world), [], 'no recovery is offered: a person looks at both');
  });
});

describe('two EtcdClusters that take over the same cluster', () => {
  test('one of them joins, the other is refused by name, and none takes the members of the other', async () => {
    const world = await besideOthers(old, 1);
    const first = world.cluster() ?? assert.fail();
    const { name: _, uid: __, resourceVersion: ___, ...metadata } = first.metadata;
    const second: EtcdCluster = { ...first, metadata: { ...metadata, name: 'payments' } };
    await world.kube.create(resources.clusters, second);
    for (let ticks = 0; ticks < 60; ticks += 1) {
      world.settle();
      await world.tick();
      assert.deepEqual(world.violations, []);
      world.advance(5);
    }
    const all = world.kube.stored<EtcdCluster>(resources.clusters);
    assert.deepEqual(
      all.map((cluster) => [cluster.metadata.name, readyOf(cluster)?.reason]),
      [
        ['orders', 'AdoptionNotApproved'],
        ['payments', 'UnknownMember'],
      ],
    );
    assert.match(
      readyOf(all[1])?.message ?? '',
      /another EtcdCluster that takes over the same one.*delete one of the two/,
    );
    assert.deepEqual(namesOnTheirList(world), [...old, 'orders-0']);
    await world.kube.delete(resources.clusters, namespace, 'payments', {
      preconditions: { uid: all[1]?.metadata.uid ?? '' },
    });
    await approveLeaving(world);
    for (let ticks = 0; ticks < 30; ticks += 1) {
      world.settle();
      await world.tick();
      world.advance(5);
    }
    assert.deepEqual(world.violations, []);
    assert.deepEqual(namesOnTheirList(world), ['orders-0'], 'the other one is deleted');
    assert.deepEqual(ofOurs(world), ['of the old cluster']);
    assert.ok(theyServe(world));
  });
});

async function untilOurs(world: World, count: number): Promise<void> {
  for (let ticks = 0; ticks < 30 && oursOnTheList(world).length < count; ticks += 1) {
    world.settle();
    await world.tick();
    world.advance(2);
  }
  assert.equal(oursOnTheList(world).length, count);
  world.settle();
}

async function rests(world: World): Promise<string> {
  const { kind, reason } = await tickUntilConverged(world);
  return `${kind} ${reason}`;
}

function readyOf(cluster: EtcdCluster | undefined) {
  return cluster?.status?.conditions?.find(({ type }) => type === 'Ready');
}

function deletedSince(world: World, before: number): readonly string[] {
  return world.kube
    .journal()
    .slice(before)
    .flatMap(({ verb, key }) => (verb === 'DELETE' ? key : []));
}

/** Which cluster the members run in that are not of the others. */
function ofOurs(world: World): readonly string[] {
  return [...world.processes.values()]
    .filter(({ cluster }) => cluster !== '')
    .map(({ data }) => (world.formations.get(data.clusterId)?.others ? 'of the old cluster' : 'of another'));
}

function recoveriesOffered(world: World) {
  const { approvals = [] } = world.cluster()?.status ?? {};
  return approvals.filter(({ annotation }) => annotation === annotations.recoverQuorum);
}
