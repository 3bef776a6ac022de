import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterBackup } from '../../../../manifests/api/cluster-backup.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../../../manifests/api/etcd-backup.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { validateDocument } from '../../../../manifests/api/validate.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { crashesIn, killer, squares } from '../../../support/world/crash.ts';
import { revisionOf } from '../../../support/world/revisions.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** A cluster that hibernates, and is deleted: its last backup is the one that it was put to sleep on. */

const backup: ClusterBackup = {
  to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' },
  beforeUpgrade: 'Never',
  beforeDeletion: 'Required',
  beforeHibernation: 'Required',
};
const goes: Partial<EtcdClusterSpec> = { volumeRetention: { whenDeleted: 'Delete' } };
const hour = 3600;

async function backupsIn({ kube }: World): Promise<readonly EtcdBackup[]> {
  return (await kube.list<EtcdBackup>(resources.backups, { namespace })).items;
}

/** That which takes a snapshot. */
async function onlyBackup(world: World): Promise<EtcdBackup> {
  const all = (await backupsIn(world)).filter(({ spec }) => spec.existing === undefined);
  const [made = assert.fail('no EtcdBackup was made'), ...others] = all;
  assert.deepEqual(others, []);
  return made;
}

/** As a Job ends that restored and compared it. */
async function take(world: World, status: 'True' | 'False' = 'True'): Promise<void> {
  const at = new Date(world.now()).toISOString();
  const ready = { type: 'Ready', status, reason: 'Told', message: 'as it went', lastTransitionTime: at } as const;
  const verified = { at, revision: 7, etcdVersion: '3.6.16', took: '1s' };
  const clusterID = world.cluster()?.status?.clusterID;
  if (clusterID === undefined) return;
  const revision = Math.max(...[...world.processes.values()].map(({ data }) => revisionOf(world.state, data)));
  const stored = { object: 'pvc://backups/orders/a.db', sha256: 'ab'.repeat(32), clusterID, revision };
  const status_ = { observedGeneration: 1, finishedAt: at, ...stored, conditions: [ready] };
  for (const one of await backupsIn(world))
    if (one.status?.finishedAt === undefined)
      await world.kube.updateStatus<EtcdBackup>(resources.backups, {
        ...one,
        status: { ...status_, ...(status === 'True' && { verified }) },
      });
}

/** As a Job ends that has read it: every byte is there, or the object is gone. */
async function lookedFor(world: World, status: 'True' | 'False' = 'True'): Promise<void> {
  const looks = await looksIn(world);
  const at = new Date(world.now()).toISOString();
  const said = { reason: 'Told', message: 'gs://x is not in the store any more', lastTransitionTime: at };
  for (const one of looks.filter((look) => look.status?.finishedAt === undefined))
    await world.kube.updateStatus<EtcdBackup>(resources.backups, {
      ...one,
      status: { observedGeneration: 1, finishedAt: at, conditions: [{ type: 'Ready', status, ...said }] },
    });
}

async function looksIn(world: World): Promise<readonly EtcdBackup[]> {
  return (await backupsIn(world)).filter(({ spec }) => spec.existing !== undefined);
}

/** Its deletion, to its end. */
async function goneAfterLook(world: World): Promise<Converged> {
  await world.remove();
  return tickUntilConverged(world, { meanwhile: () => lookedFor(world), limit: 200 });
}

async function born(spec: Partial<EtcdClusterSpec> = {}): Promise<World> {
  const world = createWorld();
  await world.apply({ ...goes, backup, ...spec });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  return world;
}

async function asleep(spec: Partial<EtcdClusterSpec> = {}): Promise<World> {
  const world = await born(spec);
  await world.apply({ ...goes, backup, ...spec, replicas: 0 });
  const reached = await tickUntilConverged(world, { meanwhile: () => take(world) });
  assert.equal(reached.reason, 'Hibernating');
  world.settle();
  assert.equal(world.processes.size, 0);
  return world;
}

async function change(world: World, status: (was: EtcdBackupStatus) => EtcdBackupStatus): Promise<void> {
  const made = await onlyBackup(world);
  const was = made.status ?? assert.fail('it is not over');
  await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...made, status: status(was) });
}

function stalledMessage(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
}

async function assertRefused(world: World, because: RegExp): Promise<void> {
  const stalled = await tickUntilConverged(world, { limit: 200 });
  assert.deepEqual([stalled.kind, stalled.reason], ['refuse', 'BackupNotPossible'], stalled.trail.join('\n'));
  assert.match(stalledMessage(world), because);
  assert.match(stalledMessage(world), /nothing starts a member.*patch etcdclusters.*beforeDeletion/s);
  assert.equal(world.claims().length, 3);
}

test('a sleep has no last backup where members had later writes when they stopped', async () => {
  const world = await born();
  await world.apply({ ...goes, backup, replicas: 0 });
  const takenEarlier = async () => {
    await take(world);
    await change(world, (was) => ({ ...was, revision: 0 }));
  };
  await world.tick();
  await takenEarlier();
  assert.equal((await tickUntilConverged(world)).reason, 'Hibernating');
  await world.remove();
  await assertRefused(world, /their volumes name no EtcdBackup/);
});

test('a sleep has no last backup where a client writes after members were decided to stop', async () => {
  const world = await born();
  await world.apply({ ...goes, backup, replicas: 0 });
  const isBarred = () => world.kube.stored(resources.configMaps).length === 0;
  await strikesWhen(world, isBarred, () => world.settle());
  assert.equal(world.processes.size, 3, 'members run on without their ConfigMaps');
  assert.equal((await tickUntilConverged(world)).reason, 'Hibernating');
  assert.deepEqual(hibernationBackup(world), [undefined, undefined, undefined]);
  await world.remove();
  await assertRefused(world, /their volumes name no EtcdBackup/);
});

const hibernationBackup = (world: World) =>
  world.claims().map(({ metadata }) => metadata.annotations?.[annotations.hibernationBackup]);

describe('a cluster that hibernates and is deleted', () => {
  for (const [policy, spec, left] of [
    ['Delete', goes, 0],
    ['Retain', { volumeRetention: { whenDeleted: 'Retain' } }, 3],
  ] as const) {
    test(`${policy}: it goes on the backup that it was put to sleep on, however long ago, and says which`, async () => {
      const world = await asleep(spec);
      const { metadata } = await onlyBackup(world);
      world.advance(40 * 24 * hour);
      await world.apply({ ...goes, ...spec, backup, replicas: 0, version: '3.6.17' });
      await tickUntilConverged(world);
      const { steps, trail } = await goneAfterLook(world);
      assert.equal(world.cluster(), undefined, trail.join('\n'));
      assert.equal(world.claims().length, left);
      assert.equal((await looksIn(world)).length, 1);
      assert.equal((await onlyBackup(world)).metadata.uid, metadata.uid);
      const said = `EtcdBackup ${metadata.name} is the last backup`;
      assert.ok(
        steps.some(({ message }) => message.includes(said)),
        trail.join('\n'),
      );
    });
  }

  test('is planned as it goes', async () => {
    const world = await asleep();
    const { planned } = await world.plan('delete');
    const gone = await goneAfterLook(world);
    const named = ({ steps }: Pick<Converged, 'steps'>) => steps.map(({ action, target }) => `${action} ${target}`);
    assert.deepEqual(named(gone), planned && named(planned));
    assert.match(planned?.summary ?? '', /a look for its last backup/);
  });

  for (const [what, spoil, because] of [
    ['was deleted', async (world: World) => remove(world), /orders-before-hibernation-.* there is none of that name/],
    ['was made anew under its name', remake, /it was deleted, and another one has its name/],
    [
      'is of another etcd cluster',
      async (world: World) => change(world, (was) => ({ ...was, clusterID: 'dead' })),
      /it is of etcd cluster dead/,
    ],
    [
      'is not Ready any more',
      async (world: World) =>
        change(world, (was) => ({
          ...was,
          conditions: (was.conditions ?? []).map((one) => ({ ...one, status: 'False' as const })),
        })),
      /it is not Ready: as it went/,
    ],
    [
      'was not restored and compared',
      async (world: World) => change(world, ({ verified: _, ...rest }) => rest),
      /not restored and compared/,
    ],
    [
      'does not say which object it is',
      async (world: World) => change(world, (was) => ({ ...was, sha256: 'AB'.repeat(32) })),
      /its status does not say which object/,
    ],
    ['can’t be read', async (world: World) => world.forbidden.add('GET etcdbackups'), /cannot be read/],
    ['is named by some volumes only', forget, /name no EtcdBackup/],
  ] as const) {
    test(`stays, with its volumes, where that backup ${what}`, async () => {
      const world = await asleep();
      await spoil(world);
      await world.remove();
      await assertRefused(world, because);
    });
  }

  test('takes one whose checksum alone was proven where the spec asks for no more', async () => {
    const world = await asleep({ backup: { ...backup, verify: 'Trailer' } });
    await change(world, ({ verified: _, ...rest }) => rest);
    await goneAfterLook(world);
    assert.equal(world.cluster(), undefined);
  });

  test('has the object read, by another EtcdBackup, before any of its volumes goes', async () => {
    const world = await asleep({ backup: { ...backup, to: { ...backup.to, compression: 'Zstd' }, deadline: '2h' } });
    const { metadata, status } = await onlyBackup(world);
    await world.remove();
    for (let ticks = 0; ticks < 20; ticks += 1) {
      await world.tick();
      world.advance(60);
    }
    assert.equal(world.claims().length, 3);
    const { message } = world.cluster()?.status?.lastDecision ?? assert.fail('nothing was decided');
    assert.match(message, /the deletion waits until EtcdBackup orders-before-deletion-/);
    const [look = assert.fail('nothing looks'), ...others] = await looksIn(world);
    await lookedFor(world);
    assert.deepEqual(others, []);
    assert.deepEqual(look.spec, {
      ...{ clusterName: 'orders', verify: 'Trailer', deadline: '2h' },
      to: { object: status?.object },
      existing: { sha256: status?.sha256 },
    });
    const { metadata: own, status: _, ...rest } = look;
    assert.deepEqual(validateDocument({ ...rest, metadata: { name: own.name, namespace } }), []);
    const { steps } = await tickUntilConverged(world);
    assert.equal(world.cluster(), undefined);
    assert.equal(world.claims().length, 0);
    const said = new RegExp(
      `EtcdBackup ${metadata.name} is the last backup: .* EtcdBackup ${look.metadata.name} found`,
    );
    assert.ok(steps.some((step) => said.test(step.message)));
  });

  test('stays where that object is gone, and goes on when it is back, or nothing waits for it', async () => {
    for (const goOn of ['it is put back', 'the spec asks for none'] as const) {
      const world = await asleep();
      await world.remove();
      const held = await tickUntilConverged(world, { meanwhile: () => lookedFor(world, 'False') });
      assert.deepEqual([held.kind, held.reason], ['refuse', 'BackupFailed'], held.trail.join('\n'));
      const message = stalledMessage(world);
      assert.match(message, /EtcdBackup orders-before-deletion-\S+ has failed: gs:\/\/x is not in the store any more/);
      assert.match(message, /the volumes go then, unless spec\.volumeRetention\.whenDeleted is Retain/);
      assert.equal(world.claims().length, 3);
      if (goOn === 'it is put back') {
        const [, name = assert.fail(message)] = /delete etcdbackups\S* (\S+):/.exec(message) ?? [];
        world.kube.remove(resources.backups, namespace, name);
        await tickUntilConverged(world, { meanwhile: () => lookedFor(world) });
      } else {
        const found = world.cluster() ?? assert.fail('it is gone');
        const spec = { ...found.spec, backup: { ...backup, beforeDeletion: 'Never' as const } };
        await world.kube.update(resources.clusters, { ...found, spec });
        await tickUntilConverged(world);
      }
      assert.equal(world.cluster(), undefined, goOn);
    }
  });

  test('BestEffort: goes on without a last backup where that object is gone', async () => {
    const lenient = { ...backup, beforeDeletion: 'BestEffort' } as const;
    const world = await asleep({ backup: lenient });
    await world.remove();
    const { steps } = await tickUntilConverged(world, { meanwhile: () => lookedFor(world, 'False') });
    assert.equal(world.cluster(), undefined);
    assert.ok(
      steps.some(({ message }) => /was not found, so the deletion goes on without a last backup/.test(message)),
    );
  });

  test('does not go on a look that is hours old: the object is read again', async () => {
    const world = await asleep();
    await world.remove();
    await world.tick();
    await lookedFor(world);
    world.advance(2 * hour);
    await tickUntilConverged(world, { meanwhile: () => lookedFor(world, 'False') });
    assert.equal(world.claims().length, 3);
    assert.match(stalledMessage(world), /has failed: .* not in the store/);
  });

  test('an invocation that dies at any write of the deletion leaves one look', async () => {
    const counting = killer();
    const first = await asleep();
    await first.remove();
    await tickUntilConverged(first, { faults: counting, meanwhile: () => lookedFor(first) });
    assert.ok(counting.writes() > 6, 'it writes');
    for (const crash of squares(crashesIn(counting.writes()), 'white')) {
      const world = await asleep();
      await world.remove();
      const looks = async () => {
        if (world.claims().length < 3)
          assert.ok(
            (await looksIn(world)).some(({ status }) => status),
            'a volume went',
          );
        await lookedFor(world);
      };
      await tickUntilConverged(world, { faults: killer(crash), meanwhile: looks, limit: 200 });
      await tickUntilConverged(world, { meanwhile: looks, limit: 200 });
      assert.equal(world.cluster(), undefined, `${JSON.stringify(crash)} ${stalledMessage(world)}`);
      assert.equal((await looksIn(world)).length, 1);
    }
  });

  test('does not go on the backup of an earlier sleep', async () => {
    const lenient = { ...backup, beforeHibernation: 'BestEffort' } as const;
    const world = await asleep({ backup: lenient });
    await world.apply({ ...goes, backup: lenient, replicas: 3 });
    assert.equal((await tickUntilConverged(world)).kind, 'done');
    assert.deepEqual(hibernationBackup(world), [undefined, undefined, undefined]);
    await world.apply({ ...goes, backup: lenient, replicas: 0 });
    const again = await tickUntilConverged(world, { meanwhile: () => take(world, 'False') });
    assert.equal(again.reason, 'Hibernating');
    await world.remove();
    await assertRefused(world, /name no EtcdBackup/);
  });

  test('while all its members run yet, another backup is taken of them', async () => {
    const world = await born();
    await world.apply({ ...goes, backup, replicas: 0 });
    // It dies when the volumes are marked, before any member is stopped.
    const marked = () => hibernationBackup(world).every((one) => one !== undefined);
    await diesWhen(world, marked);
    world.advance(2 * hour);
    await world.remove();
    await tickUntilConverged(world, { meanwhile: () => take(world) });
    assert.equal(world.cluster(), undefined);
    assert.deepEqual((await backupsIn(world)).map(({ metadata }) => metadata.name.split('-')[2]).toSorted(), [
      'deletion',
      'hibernation',
    ]);
  });

  test('while some of its members run yet, without a quorum, hours after that backup, it stays', async () => {
    const world = await born();
    await world.apply({ ...goes, backup, replicas: 0 });
    await diesWhen(world, () => hibernationBackup(world).every((one) => one !== undefined));
    world.advance(2 * hour);
    await world.remove();
    world.dieWhen(({ metadata }) => metadata.name !== 'orders-2-0');
    for (const pod of ['orders-0-0', 'orders-1-0']) world.kill(pod);
    world.advance(120);
    await assertRefused(world, /name no EtcdBackup/);
  });

  test('a hibernation that is finished hours after its backup remembers none', async () => {
    const world = await born();
    await world.apply({ ...goes, backup, replicas: 0 });
    await diesWhen(world, () => hibernationBackup(world).every((one) => one !== undefined));
    world.advance(2 * hour);
    assert.equal((await tickUntilConverged(world)).reason, 'Hibernating');
    assert.deepEqual(hibernationBackup(world), [undefined, undefined, undefined]);
    await world.remove();
    await assertRefused(world, /name no EtcdBackup/);
  });

  test('after a death at any write of a hibernation it has that backup, or clients wrote on', async () => {
    const counting = killer();
    const first = await born();
    await first.apply({ ...goes, backup, replicas: 0 });
    await tickUntilConverged(first, { faults: counting, meanwhile: () => take(first) });
    assert.ok(counting.writes() > 6, 'it writes');
    // Between the look at the members and their end, clients write on.
    const usual = await writtenSince(first);
    let refused = 0;
    const all = squares(crashesIn(counting.writes()), 'black');
    for (const crash of all) {
      const world = await born();
      await world.apply({ ...goes, backup, replicas: 0 });
      await tickUntilConverged(world, { faults: killer(crash), meanwhile: () => take(world), limit: 200 });
      const reached = await tickUntilConverged(world, { meanwhile: () => take(world), limit: 200 });
      assert.equal(reached.reason, 'Hibernating', JSON.stringify(crash));
      if (hibernationBackup(world).every((one) => one === undefined)) {
        refused += 1;
        await world.remove();
        await assertRefused(world, /their volumes name no EtcdBackup/);
        continue;
      }
      const since = await writtenSince(world);
      assert.ok(since <= usual, `${JSON.stringify(crash)}: ${since} writes are not in it, and usually ${usual}`);
      await goneAfterLook(world);
      assert.equal(world.cluster(), undefined, `${JSON.stringify(crash)} ${stalledMessage(world)}`);
    }
    assert.ok(refused > 0 && refused < all.length, `${refused} of ${all.length} were written to since`);
  });
});

/** Revisions on the disks that the backup of the sleep does not hold. */
async function writtenSince(world: World): Promise<number> {
  const { status } = await onlyBackup(world);
  const stored = [...world.state.disks.values()].map((data) => revisionOf(world.state, data));
  return Math.max(...stored) - (status?.revision ?? 0);
}

async function remove(world: World): Promise<void> {
  world.kube.remove(resources.backups, namespace, (await onlyBackup(world)).metadata.name);
}

async function remake(world: World): Promise<void> {
  const { metadata, spec, status, ...rest } = await onlyBackup(world);
  await remove(world);
  const { name, labels, annotations: marks } = metadata;
  const made = {
    ...rest,
    metadata: { name, namespace, ...(labels && { labels }), ...(marks && { annotations: marks }) },
    spec,
  };
  const found = await world.kube.create<EtcdBackup>(resources.backups, made);
  await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...found, ...(status && { status }) });
}

async function forget(world: World): Promise<void> {
  const claim = world.claims().at(-1) ?? assert.fail('there is no volume');
  const { [annotations.hibernationBackup]: _, ...kept } = claim.metadata.annotations ?? {};
  await world.kube.update(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: kept } });
}

/** Ticks until an invocation has died at its first write after which this is so. */
async function diesWhen(world: World, isSo: () => boolean): Promise<void> {
  await strikesWhen(world, isSo, () => {
    throw new Error('killed');
  });
  assert.equal(world.processes.size, 3);
}

/** Once, after the first write of an invocation after which this is so. */
async function strikesWhen(world: World, isSo: () => boolean, strike: () => void): Promise<void> {
  let struck = false;
  const after = () => {
    if (struck || !isSo()) return;
    struck = true;
    strike();
  };
  for (let ticks = 0; ticks < 20 && !struck; ticks += 1) {
    world.settle();
    await take(world);
    await world.tick({ after });
    world.advance(3);
  }
  assert.ok(struck);
}
