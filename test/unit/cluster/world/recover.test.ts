import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { readVolumeRecord, type VolumeRecord, withVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { approvalIn } from '../../../support/world/recovery.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { namespace, type World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

/** So many members, of which these have lost their volumes. */
async function lossy(replicas: number, lost: readonly number[]): Promise<World> {
  const world = await bornWith({ replicas, healing });
  for (const ordinal of lost) world.loseVolume(`orders-${ordinal}`);
  return world;
}

async function annotate(world: World, text: string): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const { metadata } = cluster;
  await world.kube.update(resources.clusters, {
    ...cluster,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.recoverQuorum]: text } },
  });
}

/** Ticks until a person is asked, and lets that person approve. */
async function approved(world: World): Promise<string> {
  let end = await tickUntilConverged(world, { limit: 300 });
  if (end.reason !== 'QuorumLost') {
    // A member that may still come back is lost when its grace is over.
    world.advance(60);
    end = await tickUntilConverged(world, { limit: 300 });
  }
  assert.equal(end.reason, 'QuorumLost', end.trail.join('\n'));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  const [approval, ...more] = world.cluster()?.status?.approvals ?? [];
  assert.deepEqual([approval?.annotation, approval?.reason, more], [annotations.recoverQuorum, 'QuorumLost', []]);
  assert.match(
    approval?.loses ?? '',
    /^the data of orders-\d.* for ever: every write that orders-\d does not have; it goes on as a new etcd cluster, above all revisions that clients saw/,
  );
  const text = approval?.value ?? assert.fail();
  assert.equal(approvalIn(stalled?.message ?? ''), text);
  await annotate(world, text);
  return text;
}

function recordOf(world: World, volume: string): VolumeRecord {
  const claim = world.claims().find(({ metadata }) => metadata.name === volume);
  const read = readVolumeRecord(claim?.metadata.annotations);
  return read.kind === 'valid' ? read.record : assert.fail(`${volume} is ${read.kind}`);
}

const losses: readonly (readonly [number, readonly number[], readonly string[]])[] = [
  [2, [1], ['orders-0', 'orders-2']],
  [3, [1, 2], ['orders-0', 'orders-3', 'orders-4']],
  [3, [0, 1], ['orders-2', 'orders-3', 'orders-4']],
  [5, [0, 1, 2], ['orders-3', 'orders-5', 'orders-6', 'orders-7', 'orders-8']],
];

describe('a quorum that is lost for good', () => {
  for (const [replicas, lost, left] of losses) {
    test(`${lost.length} of ${replicas}: once approved, it goes on from what is left, and grows back`, async () => {
      const world = await lossy(replicas, lost);
      const before = Math.max(...[...world.processes.values()].map(({ data }) => data.applied));
      await approved(world);
      const end = await tickUntilConverged(world, { limit: 400 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assert.equal(world.cluster()?.status?.approvals, undefined, 'what was approved is asked no more');
      assertWhole(world, left, end.trail.join('\n'));
      const [former, formation] = [...world.formations];
      assert.ok((formation?.[1].acknowledged ?? 0) >= before, 'what the survivor had is kept');
      assert.deepEqual(world.cluster()?.status?.gaveUp, [former?.[0]]);
      assert.equal(world.cluster()?.status?.clusterID, formation?.[0]);
      assert.equal([...world.attempts.values()].flatMap((ran) => [...ran]).length, 1, 'it was forced once');
      assert.equal(world.kube.stored(resources.jobs).length, 0);
      const steps = end.steps.map(({ reason }) => reason);
      assert.deepEqual(steps.slice(0, 5), [
        'RecoveringQuorum',
        'StoppingMembers',
        'ForcingNewCluster',
        'ConcludingRecovery',
        'DroppingPeers',
      ]);
    });
  }

  test('the invocation dies at any write: it is finished all the same, and nothing is lost', async () => {
    const lost = await lossy(3, [1, 2]);
    await approved(lost);
    const life = await lifeOf(lost);
    assert.ok(life.writes > 20, `${life.writes} writes`);
    for (const crash of sample(life.places, 3)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world, { limit: 400 });
      const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
      assert.equal(end.kind, 'done', story);
      assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], story);
    }
  });

  test('and where ConfigMaps are deleted at any write: the only data there are start again', async () => {
    const lost = await lossy(3, [1, 2]);
    await approved(lost);
    const life = await lifeOf(lost);
    for (const crash of sample(life.places, 4)) {
      const { world } = await life.killedAt(crash);
      for (const { metadata } of world.kube.stored(resources.configMaps))
        world.kube.remove(resources.configMaps, namespace, metadata.name);
      const end = await tickUntilConverged(world, { limit: 400 });
      const story = `${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
      assert.equal(end.kind, 'done', story);
      assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], story);
    }
  });

  test('the invocation freezes at any write until another one has acted: nothing is done twice', async () => {
    const lost = await lossy(3, [1, 2]);
    await approved(lost);
    const { writes } = await lifeOf(lost.fork());
    assert.ok(writes > 20, `${writes} writes`);
    for (let write = 0; write < Math.min(writes, 60); write += 4) {
      const world = lost.fork();
      let asleep = false;
      let story = `asleep at write ${write}`;
      let made = 0;
      const before = async () => {
        made += 1;
        if (made !== write + 1 || asleep) return;
        asleep = true;
        world.advance(31);
        const end = await tickUntilConverged(world, { limit: 400 });
        story = `${story}:\n${end.trail.join('\n')}`;
      };
      for (let ticks = 0; ticks < 60 && !asleep; ticks += 1) {
        world.settle();
        await world.tick({ before });
        world.advance(2);
      }
      const end = await tickUntilConverged(world, { limit: 400 });
      assert.equal(end.kind, 'done', `${story}\n${end.trail.join('\n')}`);
      assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], story);
      assert.equal(world.kube.stored(resources.jobs).length, 0, story);
    }
  });

  test('the one that has the most data is chosen, and what the others lack is kept', async () => {
    const world = await lossy(5, []);
    world.kill('orders-3-0');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-3-0');
    for (let rounds = 0; rounds < 10; rounds += 1) world.settle();
    for (const ordinal of [0, 1, 2]) world.loseVolume(`orders-${ordinal}`);
    world.dieWhen(() => false);
    const newest = Math.max(...[...world.processes.values()].map(({ data }) => data.applied));
    await approved(world);
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    const [formation] = world.formations.values();
    assert.ok((formation?.acknowledged ?? 0) >= newest);
    assert.equal(recordOf(world, 'orders-4').state, 'sealed');
    assert.equal(recordOf(world, 'orders-3').state, 'superseded');
  });
});

describe('a power failure', () => {
  test('takes two of three volumes, and the third member starts anew: it is gone on from', async () => {
    const world = await lossy(3, [1, 2]);
    world.kill('orders-0-0');
    await approved(world);
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    assert.match(stalled, /orders-0 has the most data \(index \d+, revision \d+\); orders-0 started without a quorum/);
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], end.trail.join('\n'));
  });

  test('leaves two of five that start anew: the one with more is gone on from, both are told', async () => {
    const world = await lossy(5, []);
    world.kill('orders-3-0');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-3-0');
    for (let rounds = 0; rounds < 10; rounds += 1) world.settle();
    for (const ordinal of [0, 1, 2]) world.loseVolume(`orders-${ordinal}`);
    world.dieWhen(() => false);
    world.kill('orders-4-0');
    const newest = Math.max(...[...world.disks.values()].map(({ applied }) => applied));
    await approved(world);
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    assert.match(
      stalled,
      /orders-4 has the most data \(index (\d+), .* on its disk a log .* up to \1, .*\); orders-3 has index (\d+), .* up to \2, /,
    );
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.ok(([...world.formations.values()][0]?.acknowledged ?? 0) >= newest);
    assert.equal(recordOf(world, 'orders-3').state, 'superseded');
  });
});

test('empty disks are lost as well, once their members have kept exiting for long enough', async () => {
  const world = await lossy(3, []);
  for (const volume of ['orders-1', 'orders-2']) world.wipe(volume);
  await approved(world);
  const end = await tickUntilConverged(world, { limit: 400 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], end.trail.join('\n'));
});

describe('nothing happens', () => {
  for (const [what, text] of [
    ['without a hash', 'c1c1'],
    ['empty', ''],
    ['of another cluster', 'deadbeef/000000000000'],
    ['with control characters', 'a/\u0000\n\r'],
    ['of any script', 'кластер/хэш🙂'],
    ['that is huge', `${'a'.repeat(100_000)}/${'b'.repeat(100_000)}`],
    ['that asks to do without a copy', 'c1c1/without-copy'],
  ] as const) {
    test(`on an approval ${what}`, async () => {
      const world = await lossy(3, [1, 2]);
      await tickUntilConverged(world, { limit: 300 });
      await annotate(world, text);
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.equal(end.reason, 'QuorumLost');
      assert.equal(end.acts, 0);
      assert.match(end.message, /is for another loss, and void/);
      assert.ok(end.message.length < 1500, 'it is not repeated');
    });
  }

  test('on an approval of another loss: one more member is gone by then', async () => {
    const world = await lossy(5, [0, 1, 2]);
    const text = await approved(world);
    world.loseVolume('orders-3');
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'QuorumLost');
    assert.equal(end.acts, 0);
    assert.notEqual(await approved(world), text);
  });

  test('on an approval that was used: the next loss is another one', async () => {
    const world = await lossy(3, [1, 2]);
    const text = await approved(world);
    await tickUntilConverged(world, { limit: 400 });
    for (const member of ['orders-3', 'orders-4']) world.loseVolume(member);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'QuorumLost', end.trail.join('\n'));
    assert.equal(end.acts, 0);
    assert.equal(world.cluster()?.metadata.annotations?.[annotations.recoverQuorum], text, 'it is still there');
    await approved(world);
    const again = await tickUntilConverged(world, { limit: 400 });
    assert.equal(again.kind, 'done', again.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-5', 'orders-6'], again.trail.join('\n'));
  });

  test('while it is suspended; what was begun goes on afterwards', async () => {
    const world = await lossy(3, [1, 2]);
    await approved(world);
    for (let ticks = 0; ticks < 2; ticks += 1) {
      world.settle();
      await world.tick();
    }
    await world.apply({ replicas: 3, healing, suspend: true });
    const end = await tickUntilConverged(world, { limit: 50 });
    assert.equal(end.acts, 0, end.trail.join('\n'));
    await world.apply({ replicas: 3, healing, suspend: false });
    const again = await tickUntilConverged(world, { limit: 400 });
    assert.equal(again.kind, 'done', again.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], again.trail.join('\n'));
  });

  test('when every member is lost: a person is told that only a snapshot helps', async () => {
    const world = await lossy(1, []);
    world.loseVolume('orders-0');
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.kind, 'refuse');
    assert.match(end.reason, /^(AllMembersLost|AllVolumesGone)$/);
    assert.equal(end.acts, 0);
  });
});

describe('the members of before', () => {
  test('on nodes that are dead are waited for until they are known to be off', async () => {
    const world = await lossy(3, []);
    for (const pod of ['orders-1-0', 'orders-2-0']) world.loseNode(pod);
    const silent = (name: string) => ({
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    });
    world.kube.seed(resources.nodes, silent('dead-orders-1-0'), silent('dead-orders-2-0'));
    await approved(world);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'MemberNotFenced', end.trail.join('\n'));
    assert.match(end.message, /dead-orders-1-0, which does not report/);
    assert.equal(world.attempts.size, 0);

    // By force, as people do.
    for (const pod of ['orders-1-0', 'orders-2-0']) world.kube.remove(resources.pods, namespace, pod);
    const still = await tickUntilConverged(world, { limit: 300 });
    assert.equal(still.reason, 'MemberNotFenced', 'a pod that was deleted by force may still run');
    assert.equal(world.attempts.size, 0);

    world.kube.remove(resources.nodes, undefined, 'dead-orders-1-0');
    world.kube.seed(resources.nodes, {
      ...silent('dead-orders-2-0'),
      spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    } as never);
    const whole = await tickUntilConverged(world, { limit: 400 });
    assert.equal(whole.kind, 'done', whole.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], whole.trail.join('\n'));
    for (const volume of ['orders-1', 'orders-2']) assert.equal(recordOf(world, volume).state, 'superseded');
  });

  test('never start again from PVCs that say sealed, also while the recovered one is away', async () => {
    const world = await lossy(3, []);
    const kept = world.claims().filter(({ metadata }) => metadata.name !== 'orders-0');
    const disks = kept.map(({ metadata }) => world.disks.get(metadata.uid ?? ''));
    for (const { metadata } of kept) world.loseVolume(metadata.name);
    await approved(world);
    await tickUntilConverged(world, { limit: 400 });
    await world.apply({ replicas: 1, healing });
    await tickUntilConverged(world, { limit: 400 });
    for (const [index, claim] of kept.entries()) {
      const record = readVolumeRecord(claim.metadata.annotations);
      assert.equal(record.kind === 'valid' && record.record.state, 'sealed');
      world.kube.seed<PersistentVolumeClaim>(resources.volumeClaims, claim);
      const data = disks[index];
      if (data) world.disks.set(claim.metadata.uid ?? '', data);
    }
    world.dieWhen(({ metadata }) => metadata.name === 'orders-0-0');
    world.kill('orders-0-0');
    for (let ticks = 0; ticks < 20; ticks += 1) {
      world.settle();
      await world.tick();
      world.advance(5);
      assert.deepEqual(world.violations, []);
    }
    const pods = world.kube.stored<Pod>(resources.pods).map(({ metadata }) => metadata.name);
    assert.deepEqual(pods, ['orders-0-0']);
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, ['orders-0'], end.trail.join('\n'));
  });
});

describe('while it is recovered', () => {
  test('the Job’s pod is lost: it is made anew, as the next attempt', async () => {
    const world = await lossy(3, [1, 2]);
    await approved(world);
    let struck = false;
    for (let ticks = 0; ticks < 20 && !struck; ticks += 1) {
      await world.tick();
      world.round();
      world.round();
      const pod = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name.includes('recovery'));
      if (pod) {
        world.kube.remove(resources.pods, namespace, pod.metadata.name);
        struck = true;
      }
    }
    assert.ok(struck);
    const end = await tickUntilConverged(world, { limit: 400 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], end.trail.join('\n'));
    assert.ok(end.steps.some(({ reason }) => reason === 'RepeatingRecovery'));
  });

  test('a Job that comes after the recovery runs nothing, and goes', async () => {
    const world = await lossy(3, [1, 2]);
    await approved(world);
    let job: Parameters<typeof world.kube.seed>[1] | undefined;
    for (let ticks = 0; ticks < 30 && !job; ticks += 1) {
      await world.tick();
      [job] = world.kube.stored(resources.jobs);
      world.settle();
    }
    await tickUntilConverged(world, { limit: 400 });
    const { uid: _, resourceVersion: __, ...metadata } = job?.metadata ?? assert.fail('there was no Job');
    await world.kube.create(resources.jobs, { ...job, metadata });
    const end = await tickUntilConverged(world, { limit: 100 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], end.trail.join('\n'));
  });

  test('the resource is deleted and applied again: it goes on from what the volumes say', async () => {
    for (const ticks of [1, 2, 3, 4, 5, 6]) {
      const world = await lossy(3, [1, 2]);
      await approved(world);
      for (let tick = 0; tick < ticks; tick += 1) {
        world.settle();
        await world.tick();
      }
      await world.remove();
      world.settle();
      await world.apply({ replicas: 3, healing });
      const end = await tickUntilConverged(world, { limit: 400 });
      const story = `${ticks}:\n${end.trail.join('\n')}`;
      assert.equal(end.kind, 'done', story);
      assertWhole(world, ['orders-0', 'orders-3', 'orders-4'], story);
    }
  });

  test('the spec asks for another size, none at all, or another version: the recovery comes first', async () => {
    for (const [changes, names] of [
      [{ replicas: 1 }, ['orders-0']],
      [{ replicas: 0 }, []],
      [{ replicas: 3, version: '3.6.17' }, ['orders-0', 'orders-3', 'orders-4']],
    ] as const) {
      const world = await lossy(3, [1, 2]);
      await approved(world);
      for (let tick = 0; tick < 3; tick += 1) {
        world.settle();
        await world.tick();
      }
      await world.apply({ healing, ...changes });
      const end = await tickUntilConverged(world, { limit: 500 });
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      if (names.length > 0) assertWhole(world, names, end.trail.join('\n'));
      assert.equal(recordOf(world, 'orders-0').state, names.length > 0 ? 'sealed' : 'hibernating');
    }
  });

  test('the resource is deleted, and its volumes with it: whatever it had come to, all of them go', async () => {
    const volumeRetention = { whenDeleted: 'Delete', whenScaled: 'Delete' } as const;
    for (const ticks of [1, 2, 3, 4, 5, 6]) {
      const world = await lossy(3, [1]);
      world.loseNode('orders-2-0');
      await world.apply({ replicas: 3, healing, volumeRetention });
      await approved(world);
      for (let tick = 0; tick < ticks; tick += 1) {
        world.settle();
        await world.tick();
      }
      world.kube.remove(resources.pods, namespace, 'orders-2-0');
      await world.remove();
      const end = await tickUntilConverged(world, { limit: 100 });
      world.settle();
      assert.equal(end.kind, 'gone', `${ticks}:\n${end.trail.join('\n')}`);
      assert.deepEqual(world.claims(), [], `${ticks}:\n${end.trail.join('\n')}`);
    }
  });

  test('with a learner that was joining: it is left behind like the others', async () => {
    for (const ticks of [1, 2, 3, 4, 5]) {
      const world = await lossy(3, []);
      await world.apply({ replicas: 4, healing });
      for (let tick = 0; tick < ticks; tick += 1) {
        world.settle();
        await world.tick();
      }
      for (const member of ['orders-1', 'orders-2']) world.loseVolume(member);
      const lost = await tickUntilConverged(world, { limit: 300 });
      const story = `${ticks}:\n${lost.trail.join('\n')}`;
      assert.equal(lost.reason, 'QuorumLost', story);
      await approved(world);
      const end = await tickUntilConverged(world, { limit: 500 });
      assert.equal(end.kind, 'done', `${story}\n${end.trail.join('\n')}`);
      assert.equal(world.processes.size, 4, `${story}\n${end.trail.join('\n')}`);
      assert.deepEqual(world.violations, [], story);
    }
  });
});

test('what a volume remembers of a recovery is read back as it was written', () => {
  const record: VolumeRecord = {
    token: 'token',
    initialCluster: [{ name: 'orders-0', url: 'http://orders-0:2380' }],
    clusterId: 'c1',
    memberId: 'a0',
    version: '3.6.16',
    tlsMode: 'Disabled',
    state: 'recovering',
    outvoted: [
      { name: 'orders-1', memberId: 'a1' },
      { name: 'orders-2', memberId: 'a2' },
    ],
    recovery: { id: '0123456789ab', attempt: 2, lastSeenOn: { 'orders-1': ['node-a'] } },
  };
  assert.deepEqual(readVolumeRecord(withVolumeRecord({}, record)), { kind: 'valid', record });
});
