import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterBackup } from '../../../../manifests/api/cluster-backup.ts';
import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { backupFinalizer } from '../../../../reconcile/cluster/know/marks.ts';
import { KubeError, type KubeObject, resources } from '../../../../reconcile/interfaces/kube.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { crashesIn, killer, squares } from '../../../support/world/crash.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** A cluster that is deleted, or hibernates, after its last backup. */

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } as const;
const required: ClusterBackup = {
  to,
  beforeUpgrade: 'Never',
  beforeDeletion: 'Required',
  beforeHibernation: 'Required',
};
const bestEffort: ClusterBackup = { ...required, beforeDeletion: 'BestEffort', beforeHibernation: 'BestEffort' };
const goes: Partial<EtcdClusterSpec> = { volumeRetention: { whenDeleted: 'Delete' } };

async function born(backup: ClusterBackup, spec: Partial<EtcdClusterSpec> = goes): Promise<World> {
  const world = createWorld();
  await world.apply({ ...spec, backup });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  return world;
}

async function backupsIn({ kube }: World): Promise<readonly EtcdBackup[]> {
  return (await kube.list<EtcdBackup>(resources.backups, { namespace })).items;
}

/** What the steps of backups make of those that are not over. `undefined`: they ask for a person, and go on. */
async function end(world: World, status: 'True' | 'False' | undefined): Promise<void> {
  const at = new Date(world.now()).toISOString();
  const said = { reason: 'Told', message: 'as it went', lastTransitionTime: at };
  for (const backup of await backupsIn(world)) {
    if (backup.status?.finishedAt !== undefined) continue;
    const conditions = [
      { type: 'Ready', status: status ?? 'False', ...said },
      ...(status === undefined ? [{ type: 'Stalled', status: 'True' as const, ...said }] : []),
    ];
    const told = { observedGeneration: 1, ...(status && { finishedAt: at }), conditions };
    await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...backup, status: told });
  }
}

function isReady({ status }: EtcdBackup): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
}

/** Everything that its data live in, or that serves them, is as it was. */
async function assertWhole(world: World): Promise<void> {
  assert.equal(world.claims().filter(({ metadata }) => !metadata.deletionTimestamp).length, 3, 'a volume goes');
  assert.equal(world.processes.size, 3, 'a member has stopped');
}

async function untilRefused(world: World, reason: string, status?: 'True' | 'False'): Promise<Converged> {
  const meanwhile = async () => {
    if (status) await end(world, status);
  };
  const stalled = await tickUntilConverged(world, { meanwhile, limit: 300 });
  assert.deepEqual([stalled.kind, stalled.reason], ['refuse', reason], stalled.trail.join('\n'));
  return stalled;
}

function conditionMessage(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
}

describe('a cluster that is deleted after its last backup', () => {
  for (const [policy, spec, left] of [
    ['Delete', goes, 0],
    ['Retain', {}, 3],
  ] as const) {
    test(`${policy}: nothing ends before it is Ready; the EtcdBackup stays`, async () => {
      const world = await born(required, spec);
      await world.remove();
      for (let ticks = 0; ticks < 5; ticks += 1) {
        world.settle();
        await world.tick();
        world.advance(10);
        await assertWhole(world);
      }
      await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
      world.settle();
      assert.equal(world.cluster(), undefined);
      assert.equal(world.claims().length, left);
      const [made, ...others] = await backupsIn(world);
      assert.deepEqual(others, []);
      assert.equal(made?.metadata.ownerReferences, undefined);
      assert.partialDeepStrictEqual(made?.spec, { clusterName: 'orders', to });
    });
  }

  test('takes it again when days have passed since it ended', async () => {
    const world = await born(required);
    await world.remove();
    await world.tick();
    await end(world, 'True');
    world.advance(2 * 24 * 3600);
    await world.tick();
    await assertWhole(world);
    assert.equal((await backupsIn(world)).length, 2);
    await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
    world.settle();
    assert.equal(world.cluster(), undefined);
    assert.equal((await backupsIn(world)).length, 2);
  });

  test('is planned with it', async () => {
    const world = await born(required);
    const { planned } = await world.plan('delete');
    assert.match(planned?.summary ?? '', /: a backup/);
    await world.remove();
    const gone = await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
    const named = ({ steps }: Pick<Converged, 'steps'>) => steps.map(({ action, target }) => `${action} ${target}`);
    assert.deepEqual(named(gone), planned && named(planned));
  });

  test('the cluster’s own spec alone is planned without it', async () => {
    const world = await born({ ...required, beforeDeletion: 'Never' });
    assert.equal(world.cluster()?.metadata.finalizers?.includes(backupFinalizer), false);
    assert.doesNotMatch((await world.plan('delete')).planned?.summary ?? '', /backup/);
  });

  test('one that fails holds it, says how to go on, and a new one is made when it is deleted', async () => {
    const world = await born(required);
    await world.remove();
    await untilRefused(world, 'BackupFailed', 'False');
    await assertWhole(world);
    assert.match(
      conditionMessage(world),
      /delete etcdbackups\.etcd\.ratchet\.dev orders-before-deletion-.*kubectl -n shop patch etcdcluster/s,
    );
    for (const { metadata } of await backupsIn(world)) world.kube.remove(resources.backups, namespace, metadata.name);
    await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
    assert.equal(world.cluster(), undefined);
  });

  for (const [when, status] of [
    ['fails', 'False'],
    ['asks for a person', undefined],
  ] as const) {
    test(`best effort: it goes on where the backup ${when}`, async () => {
      const world = await born(bestEffort);
      await world.remove();
      await tickUntilConverged(world, { meanwhile: () => end(world, status) });
      assert.equal(world.cluster(), undefined);
    });
  }

  test('best effort: it waits for two deadlines, and no longer', async () => {
    const world = await born({ ...bestEffort, deadline: '10m' });
    await world.remove();
    await world.tick();
    world.advance(19 * 60);
    await world.tick();
    await assertWhole(world);
    world.advance(70);
    await tickUntilConverged(world);
    assert.equal(world.cluster(), undefined);
  });

  test('without a quorum it refuses, keeps the volumes, and goes on when one serves again', async () => {
    const world = await born(required);
    await world.remove();
    await world.tick();
    world.dieWhen(({ metadata }) => metadata.name !== 'orders-2-0');
    for (const pod of ['orders-0-0', 'orders-1-0']) world.kill(pod);
    world.advance(120);
    await untilRefused(world, 'BackupNotPossible');
    assert.match(conditionMessage(world), /no quorum serves.*bring the members back.*beforeDeletion/s);
    assert.equal(world.claims().length, 3);
    world.dieWhen(() => false);
    await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
    assert.equal(world.cluster(), undefined);
  });

  test('a change of the spec lets it go without', async () => {
    const world = await born(required);
    await world.remove();
    await untilRefused(world, 'BackupFailed', 'False');
    await world.apply({ ...goes, backup: { ...required, beforeDeletion: 'Never' } });
    await tickUntilConverged(world);
    assert.equal(world.cluster(), undefined);
    assert.equal(world.claims().length, 0);
  });

  test('an EtcdBackup that the API server refuses holds it only where it is required', async () => {
    const forbidden = { class: 'terminal', status: 403, reason: 'Forbidden' } as const;
    for (const [backup, isGone] of [
      [required, false],
      [bestEffort, true],
    ] as const) {
      const world = await born(backup);
      world.refusing.set('back-up', new KubeError('403 exceeded quota', forbidden));
      await world.remove();
      await tickUntilConverged(world, { limit: 200 });
      assert.equal(world.cluster() === undefined, isGone);
      if (!isGone) assert.match(conditionMessage(world), /exceeded quota.*beforeDeletion/s);
    }
  });

  test('in a namespace that is being deleted it does not wait: nothing can be made there', async () => {
    const world = await born(required);
    const deletionTimestamp = new Date(world.now()).toISOString();
    const metadata = { name: namespace, uid: 'ns', deletionTimestamp };
    world.kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata } as KubeObject);
    world.forbidden.add('etcdbackups');
    await world.remove();
    await tickUntilConverged(world);
    assert.equal(world.cluster(), undefined);
  });

  test('a cluster that hibernates can’t be backed up: it says so, and keeps its volumes', async () => {
    const world = await born({ ...required, beforeHibernation: 'Never' });
    await world.apply({ ...goes, replicas: 0, backup: { ...required, beforeHibernation: 'Never' } });
    await tickUntilConverged(world);
    await world.remove();
    await untilRefused(world, 'BackupNotPossible');
    assert.match(conditionMessage(world), /hibernate.*beforeDeletion/s);
    assert.equal(world.claims().length, 3);
  });

  test('one whose members were deleted with it keeps its volumes', async () => {
    const world = await born(required);
    await world.remove();
    for (const n of [0, 1, 2]) world.kube.remove(resources.peers, namespace, `orders-${n}`);
    world.settle();
    await untilRefused(world, 'BackupNotPossible');
    assert.equal(world.claims().length, 3);
  });

  test('one that was never born goes at once', async () => {
    const world = createWorld();
    await world.apply({ ...goes, backup: required });
    await world.tick();
    await world.remove();
    await tickUntilConverged(world);
    assert.equal(world.cluster(), undefined);
    assert.deepEqual(await backupsIn(world), []);
  });
});

describe('a cluster that hibernates after a backup', () => {
  const sleeping = { ...goes, replicas: 0, backup: required };

  test('stops no member before it is Ready, and asks again for the next hibernation', async () => {
    const world = await born(required);
    const { planned } = await world.plan(sleeping);
    assert.match(planned?.summary ?? '', /: a backup, hibernates 3 members/);
    for (const nth of [1, 2]) {
      await world.apply(sleeping);
      for (let ticks = 0; ticks < 4; ticks += 1) {
        world.settle();
        await world.tick();
        world.advance(10);
        await assertWhole(world);
      }
      const asleep = await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
      assert.equal(asleep.reason, 'Hibernating');
      assert.equal(world.processes.size, 0);
      assert.equal((await backupsIn(world)).length, nth);
      await world.apply({ ...goes, replicas: 3, backup: required });
      assert.equal((await tickUntilConverged(world)).kind, 'done');
    }
  });

  test('one that fails holds it, or not where it is best effort', async () => {
    for (const [backup, running] of [
      [required, 3],
      [bestEffort, 0],
    ] as const) {
      const world = await born(backup);
      await world.apply({ ...sleeping, backup });
      await tickUntilConverged(world, { meanwhile: () => end(world, 'False') });
      world.settle();
      assert.equal(world.processes.size, running);
    }
  });

  test('a backup of the person’s choice lets it sleep: none is asked for once a volume sleeps', async () => {
    const world = await born(required);
    await world.apply(sleeping);
    await tickUntilConverged(world, { meanwhile: () => end(world, 'True') });
    for (const { metadata } of await backupsIn(world)) world.kube.remove(resources.backups, namespace, metadata.name);
    world.advance(60);
    const asleep = await tickUntilConverged(world);
    assert.equal(asleep.reason, 'Hibernating');
    assert.deepEqual(await backupsIn(world), []);
  });
});

describe('an invocation that dies at any write', () => {
  const stories = {
    'of a deletion': async (world: World) => world.remove(),
    'of a hibernation': async (world: World) => world.apply({ ...goes, replicas: 0, backup: required }),
  };
  for (const [what, begin] of Object.entries(stories)) {
    test(`${what}: one backup, and no member stops before it is Ready`, async () => {
      const counting = killer();
      const first = await born(required);
      await begin(first);
      await tickUntilConverged(first, { faults: counting, meanwhile: () => end(first, 'True') });
      assert.ok(counting.writes() > 4, 'it writes');
      for (const crash of squares(crashesIn(counting.writes()), 'black')) {
        const world = await born(required);
        await begin(world);
        const faults = killer(crash);
        for (let life = 0; life < 4; life += 1) {
          const meanwhile = async () => {
            const made = await backupsIn(world);
            if (!made.some(isReady)) await assertWhole(world);
            await end(world, 'True');
          };
          const reached = await tickUntilConverged(world, { faults, meanwhile, limit: 200 });
          if (world.cluster() === undefined || reached.reason === 'Hibernating') break;
        }
        world.settle();
        assert.equal(world.processes.size, 0, JSON.stringify(crash));
        assert.equal((await backupsIn(world)).filter(isReady).length, 1, JSON.stringify(crash));
      }
    });
  }
});

test('a cluster that a rollback is about to end is deleted after its last backup only', async () => {
  const world = await born(required);
  const clusterID = world.cluster()?.status?.clusterID ?? '';
  await beginRollback(world, { ...goes, backup: required, rollback: { clusterID, snapshot } });
  await world.remove();
  const reasons = new Set<string | undefined>();
  for (let ticks = 0; ticks < 60; ticks += 1) {
    world.settle();
    reasons.add((await world.tick())?.decision.reason);
    world.advance(3);
  }
  assert.deepEqual([...reasons], ['BackingUp']);
  assert.equal(world.processes.size, 3, 'a member has stopped');
  const meanwhile = () => end(world, 'True');
  assert.equal((await tickUntilConverged(world, { meanwhile, limit: 300 })).kind, 'gone');
  assert.equal((await backupsIn(world)).length, 1);
});

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };

/** Up to where the data are restored, and no member of the cluster that is given up was told. */
async function beginRollback(world: World, spec: Partial<EtcdClusterSpec>): Promise<void> {
  await world.apply(spec);
  await tickUntilConverged(world);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const value = cluster.status?.approvals?.[0]?.value ?? assert.fail('no approval is asked for');
  const metadata = {
    ...cluster.metadata,
    annotations: { ...cluster.metadata.annotations, [annotations.rollBack]: value },
  };
  await world.kube.update(resources.clusters, { ...cluster, metadata });
  const isRestored = () =>
    world.claims().some((one) => one.metadata.annotations?.[annotations.volumeState] === 'restored');
  for (let ticks = 0; ticks < 100 && !isRestored(); ticks += 1) {
    world.settle();
    await world.tick();
    world.advance(2);
  }
  assert.ok(isRestored());
}
