import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EtcdBackup, EtcdBackupStatus } from '../../../../manifests/api/etcd-backup.ts';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Job, PersistentVolumeClaim } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { partOf } from '../../../run/part.ts';
import { offerNamed } from '../../../support/fakes/offered.ts';
import { bornWith } from '../../../support/world/born.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { type Life, lifeOf } from '../../../support/world/life.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A rollback that names an EtcdBackup: what that stands for is settled before anything is stopped for it. */

const object = 'gs://backups/orders/a.db';
const sha256 = 'ab'.repeat(32);
const name = 'nightly';
const takenAt = '2026-01-02T01:00:00Z';

type Rollback = NonNullable<EtcdClusterSpec['rollback']>;

interface Start {
  readonly world: World;
  readonly clusterId: string;
}

/** One member, and the wish to go back; the EtcdBackup is not there yet. */
async function asking(to: Pick<Rollback, 'backupName' | 'snapshot'> = { backupName: name }): Promise<Start> {
  const world = await bornWith({ replicas: 1 });
  if (to.snapshot) offerNamed(world.kube, namespace, to.snapshot);
  const clusterId = world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
  await world.apply({ replicas: 1, rollback: { clusterID: clusterId, ...to } });
  return { world, clusterId };
}

async function backUp(world: World, status: Partial<EtcdBackupStatus> = {}, ready: 'True' | 'False' = 'True') {
  const to = { object: 'gs://backups/{{cluster}}/a.db', gcs: { keySecretName: 'key' } } as const;
  offerNamed(world.kube, namespace, to);
  const made = await world.kube.create<EtcdBackup>(resources.backups, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, namespace },
    spec: { clusterName: 'orders', to },
  });
  const said = { reason: 'Told', message: 'as it went', lastTransitionTime: takenAt };
  await world.kube.updateStatus<EtcdBackup>(resources.backups, {
    ...made,
    status: {
      ...{ observedGeneration: 1, object, sha256, takenAt, revision: 7, etcdVersion: '3.6.16', finishedAt: takenAt },
      clusterID: world.cluster()?.status?.clusterID ?? '',
      ...status,
      conditions: [{ type: 'Ready', status: ready, ...said }],
    },
  });
}

async function change(world: World, status: Partial<EtcdBackupStatus>): Promise<void> {
  const found = await world.kube.get<EtcdBackup>(resources.backups, namespace, name);
  assert.ok(found?.status);
  await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...found, status: { ...found.status, ...status } });
}

const forget = (world: World) => world.kube.remove(resources.backups, namespace, name);

async function refused(world: World, reason: string, words: RegExp): Promise<Converged> {
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, reason, end.trail.join('\n'));
  const stalled = messageOf(world);
  assert.match(stalled, words);
  assert.equal(world.processes.size, 1, 'it serves on');
  return end;
}

function messageOf(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
}

function approvalIn(world: World): string {
  return new RegExp(`${annotations.rollBack}=(\\S+)`).exec(messageOf(world))?.[1] ?? assert.fail(messageOf(world));
}

async function annotate(world: World, text: string): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const given = { ...cluster.metadata.annotations, [annotations.rollBack]: text };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}

/** A person has run the command of the refusal. */
async function approved(): Promise<Start> {
  const start = await asking();
  await backUp(start.world);
  await refused(start.world, 'RollbackNotApproved', /EtcdBackup nightly \(gs:.*sha256 abababababab/);
  await annotate(start.world, approvalIn(start.world));
  return start;
}

function recordsOf(world: World) {
  return world.claims().map(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' ? read.record : assert.fail(`${metadata.name} is ${read.kind}`);
  });
}

const jobsOf = ({ kube }: World) => kube.stored<Job>(resources.jobs).map((job) => JSON.stringify(job));

function assertRolledBack(world: World, clusterId: string, story: string): void {
  assertWhole(world, ['orders-1'], story);
  assert.deepEqual(world.cluster()?.status?.gaveUp, [clusterId], story);
  const [, record] = recordsOf(world);
  assert.deepEqual(record?.goesBackTo?.snapshot.object, object, story);
}

describe('a rollback to an EtcdBackup', () => {
  test('goes back to it once approved, and its volume remembers what that was', async () => {
    const { world, clusterId } = await approved();
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertRolledBack(world, clusterId, end.trail.join('\n'));
    const [, record] = recordsOf(world);
    const snapshot = { object, sha256, revision: 7, gcs: { keySecretName: 'key' } };
    assert.partialDeepStrictEqual(record?.goesBackTo, { name, clusterId, snapshot });
    assert.ok(end.steps.some(({ message }) => message.includes(`goes back to EtcdBackup ${name} (${object}`)));
    forget(world);
    assert.equal((await tickUntilConverged(world)).reason, 'Converged', 'it is over');
  });

  test('is planned as it goes, also for a spec that is not applied yet', async () => {
    const world = await bornWith({ replicas: 1 });
    await backUp(world);
    const clusterID = world.cluster()?.status?.clusterID ?? '';
    const wish = { replicas: 1, rollback: { clusterID, backupName: name } };
    const { planned } = await world.plan(wish);
    assert.deepEqual(
      planned?.refusals.map(({ reason }) => reason),
      ['RollbackNotApproved'],
    );
    const { planned: without } = await world.plan({ replicas: 1, rollback: { clusterID, backupName: 'other' } });
    assert.deepEqual(
      without?.refusals.map(({ reason }) => reason),
      ['RollbackBackupNotReady'],
    );
    const start = await approved();
    const foreseen = (await start.world.plan('keep')).planned;
    const end = await tickUntilConverged(start.world);
    const named = ({ steps }: Pick<Converged, 'steps'>) => steps.map(({ action, target }) => `${action} ${target}`);
    assert.deepEqual(named(end), foreseen && named(foreseen));
  });

  test('waits until that is there and Ready, and asks for its approval then', async () => {
    const { world } = await asking();
    await refused(world, 'RollbackBackupNotReady', /EtcdBackup nightly of this namespace, and there is none/);
    await backUp(world, {}, 'False');
    await refused(world, 'RollbackBackupNotReady', /it is not Ready: as it went/);
    forget(world);
    await backUp(world);
    await refused(world, 'RollbackNotApproved', /EtcdBackup nightly/);
  });

  test('refuses one whose status a step can’t rely on', async () => {
    for (const [status, words] of [
      [{ object: 'file:///etc/passwd' }, /which object/],
      [{ object: 'gs://backups/../../a.db' }, /which object/],
      [{ sha256: 'AB'.repeat(32) }, /which object/],
      [{ sha256: '' }, /which object/],
      [{ clusterID: "x'; rm -rf /" }, /of which etcd cluster/],
      [{ clusterID: '' }, /of which etcd cluster/],
    ] as const) {
      const { world } = await asking();
      await backUp(world, status);
      await refused(world, 'RollbackBackupNotReady', words);
      assert.deepEqual(jobsOf(world), []);
    }
  });

  test('refuses one of a newer minor, and says which version it takes', async () => {
    const { world } = await asking();
    await backUp(world, { etcdVersion: '9.9.1' });
    await refused(world, 'SnapshotTooNew', /taken by etcd 9\.9\.1.*set spec\.version to 9\.9\.1/s);
  });

  test('takes one of another etcd cluster only where the approval names that', async () => {
    const { world, clusterId } = await asking();
    await backUp(world, { clusterID: 'dead' });
    await refused(world, 'RollbackNotApproved', /etcd cluster dead, ANOTHER one/);
    const text = approvalIn(world);
    assert.ok(text.endsWith('/dead'), text);
    for (const wrong of [text.slice(0, -'/dead'.length), text.replace('/dead', '/beef'), `${text}/`]) {
      await annotate(world, wrong);
      await refused(world, 'RollbackNotApproved', /is for another snapshot, and void/);
    }
    await annotate(world, text);
    const end = await tickUntilConverged(world);
    assertRolledBack(world, clusterId, end.trail.join('\n'));
  });

  test('takes back an approval of what the EtcdBackup was before it changed', async () => {
    for (const status of [{ object: 'gs://backups/orders/b.db' }, { sha256: 'cd'.repeat(32) }, { clusterID: 'dead' }]) {
      const { world } = await approved();
      await change(world, status);
      await refused(world, 'RollbackNotApproved', /is for another snapshot, and void/);
      assert.deepEqual(jobsOf(world), []);
    }
  });
});

describe('a rollback to an object whose digest the spec does not name', () => {
  const snapshot = { object, gcs: { keySecretName: 'mine' } };

  test('is approved for the digest that its EtcdBackup recorded, and restores nothing else', async () => {
    const { world, clusterId } = await asking({ snapshot });
    await backUp(world);
    await refused(world, 'RollbackNotApproved', /a\.db, sha256 abababababab…, as EtcdBackup nightly recorded it/);
    await annotate(world, approvalIn(world));
    const end = await tickUntilConverged(world);
    assertRolledBack(world, clusterId, end.trail.join('\n'));
    const [, record] = recordsOf(world);
    assert.deepEqual(record?.goesBackTo?.snapshot, { ...snapshot, sha256, revision: 7 });
    const [made] = world.kube.journal().filter(({ key }) => key === 'POST jobs');
    assert.ok(JSON.stringify(made).includes(sha256), 'its Job compares what it reads with that');
  });

  test('that was written anew after the approval: it is asked for again', async () => {
    const { world } = await asking({ snapshot });
    await backUp(world);
    await refused(world, 'RollbackNotApproved', /sha256 abababababab/);
    await annotate(world, approvalIn(world));
    await change(world, { sha256: 'cd'.repeat(32) });
    await refused(world, 'RollbackNotApproved', /sha256 cdcdcdcdcdcd.*is for another snapshot, and void/);
    assert.deepEqual(jobsOf(world), []);
  });

  test('that no EtcdBackup recorded: the approval says that whatever lies there is restored', async () => {
    for (const status of [undefined, { object: 'gs://backups/orders/b.db' }, { sha256: '' }]) {
      const { world } = await asking({ snapshot });
      if (status) await backUp(world, status);
      await refused(world, 'RollbackNotApproved', /no EtcdBackup of this namespace records this object/);
    }
    const { world } = await asking({ snapshot: { ...snapshot, sha256 } });
    assert.doesNotMatch((await refused(world, 'RollbackNotApproved', /a\.db/)).message, /no EtcdBackup/);
  });

  test('goes on as it began where its EtcdBackup is made, changed or deleted meanwhile', async () => {
    const unrecorded = await asking({ snapshot });
    await refused(unrecorded.world, 'RollbackNotApproved', /no EtcdBackup/);
    await begun(unrecorded.world);
    await backUp(unrecorded.world, { sha256: 'cd'.repeat(32) });
    const bound = await asking({ snapshot });
    await backUp(bound.world);
    await refused(bound.world, 'RollbackNotApproved', /nightly recorded it/);
    await begun(bound.world);
    forget(bound.world);
    for (const { world, clusterId } of [unrecorded, bound]) {
      const end = await tickUntilConverged(world);
      assert.equal(end.kind, 'done', end.trail.join('\n'));
      assert.deepEqual(world.cluster()?.status?.gaveUp, [clusterId], end.trail.join('\n'));
      assert.ok(!end.trail.some((step) => step.includes('CallingOff')), end.trail.join('\n'));
    }
  });

  test('of a newer minor, as its EtcdBackup says, is refused with the version that it takes', async () => {
    const { world } = await asking({ snapshot });
    await backUp(world, { etcdVersion: '9.9.1' });
    await refused(world, 'SnapshotTooNew', /EtcdBackup nightly, which was taken by etcd 9\.9\.1/);
  });

  /** Approved, and its first step taken. */
  async function begun(world: World): Promise<void> {
    await annotate(world, approvalIn(world));
    for (let ticks = 0; ticks < 10 && recordsOf(world).length < 2; ticks += 1) {
      world.settle();
      await world.tick();
    }
    assert.equal(recordsOf(world).length, 2);
  }
});

describe('once the rollback to an EtcdBackup has begun', () => {
  let start: Start;
  let life: Life;

  before(async () => {
    start = await approved();
    life = await lifeOf(start.world.fork());
    assert.ok(life.writes > 20, `${life.writes} writes`);
  });

  const fates = {
    'is deleted': forget,
    'is changed': (world: World) => change(world, { object: 'gs://backups/orders/b.db', sha256: 'cd'.repeat(32) }),
    'is made anew': async (world: World) => {
      forget(world);
      await backUp(world, { object: 'gs://backups/orders/c.db', clusterID: 'dead' });
    },
  } as const;

  for (const [what, fate] of Object.entries(fates)) {
    test(`its invocation dies at any write, and that ${what}: it goes on from its volume`, async () => {
      const ends = { before: 0, after: 0 };
      for (const crash of partOf(life.places)) {
        const { world } = await life.killedAt(crash);
        const story = `${JSON.stringify(crash)}, ${what}`;
        const isBegun = recordsOf(world).some(({ goesBackTo }) => goesBackTo !== undefined);
        await fate(world);
        const end = await tickUntilConverged(world, { limit: 400 });
        for (const job of jobsOf(world)) assert.doesNotMatch(job, /orders\/[bc]\.db/, story);
        if (isBegun) assertRolledBack(world, start.clusterId, `${story}\n${end.trail.join('\n')}`);
        else assert.equal(world.claims().length, 1, story);
        ends[isBegun ? 'after' : 'before'] += 1;
      }
      assert.ok(ends.before > 0 && ends.after > 3, JSON.stringify(ends));
    });
  }

  /** Its volume is recorded, and no Job has ended. */
  async function begun(): Promise<World> {
    const world = start.world.fork();
    await world.tick();
    assert.equal(recordsOf(world).at(-1)?.goesBackTo?.name, name);
    return world;
  }

  test('another name in the spec calls it off', async () => {
    const world = await begun();
    await world.apply({ replicas: 1, rollback: { clusterID: start.clusterId, backupName: 'weekly' } });
    await refused(world, 'RollbackBackupNotReady', /EtcdBackup weekly/);
    assert.equal(world.claims().length, 1);
  });

  test('the same snapshot, named in full, goes on by the same approval', async () => {
    const world = await begun();
    const snapshot = { object, sha256, revision: 7, gcs: { keySecretName: 'key' } };
    await world.apply({ replicas: 1, rollback: { clusterID: start.clusterId, snapshot } });
    const end = await tickUntilConverged(world);
    assertRolledBack(world, start.clusterId, end.trail.join('\n'));
  });

  test('a rollback to that snapshot, named in full, begins anew when the name takes its place', async () => {
    const { world, clusterId } = await asking();
    await backUp(world);
    const snapshot = { object, sha256, revision: 7, gcs: { keySecretName: 'key' } };
    await world.apply({ replicas: 1, rollback: { clusterID: clusterId, snapshot } });
    await refused(world, 'RollbackNotApproved', /a\.db/);
    await annotate(world, approvalIn(world));
    await world.tick();
    await world.apply({ replicas: 1, rollback: { clusterID: clusterId, backupName: name } });
    const end = await tickUntilConverged(world, { limit: 200 });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assert.deepEqual(world.cluster()?.status?.gaveUp, [clusterId]);
  });

  for (const [what, edit] of [
    ['another object', (text: string) => text.replace('orders/a.db', 'orders/evil.db')],
    ['another Secret', (text: string) => text.replace('"key"', '"other"')],
  ] as const) {
    test(`a volume that was made to name ${what} is not restored to`, async () => {
      const world = await begun();
      await editMark(world, edit);
      const end = await tickUntilConverged(world, { limit: 200 });
      for (const job of jobsOf(world)) assert.doesNotMatch(job, /evil|"other"/);
      assert.ok(
        end.trail.some((line) => line.includes('CallingOffRollback')),
        end.trail.join('\n'),
      );
      assertRolledBack(world, start.clusterId, 'it began anew, as approved');
    });
  }

  test('a volume whose mark is no JSON stops it, and the cluster serves on', async () => {
    for (const text of ['', '{', '[]', '{"name":1}', '{"__proto__":{"object":"x"}}', 'null']) {
      const world = await begun();
      await editMark(world, () => text);
      const end = await tickUntilConverged(world, { limit: 200 });
      assert.notEqual(end.kind, 'done', text);
      assert.equal(world.processes.size, 1);
      assert.deepEqual(jobsOf(world), []);
    }
  });
});

async function editMark(world: World, edit: (text: string) => string): Promise<void> {
  const claim = world.claims().at(-1) ?? assert.fail('no volume');
  const found = claim.metadata.annotations?.[annotations.goesBackTo] ?? assert.fail('it names nothing');
  const given = { ...claim.metadata.annotations, [annotations.goesBackTo]: edit(found) };
  const metadata = { ...claim.metadata, annotations: given };
  await world.kube.update<PersistentVolumeClaim>(resources.volumeClaims, { ...claim, metadata });
}
