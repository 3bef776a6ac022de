import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterBackup } from '../../../manifests/api/cluster-backup.ts';
import { type EtcdBackup, etcdBackupRules } from '../../../manifests/api/etcd-backup.ts';
import { backupBefore, backupBeforeName } from '../../../manifests/render/backup-before.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { awaitBackup } from '../../../reconcile/cluster/decide/await-backup.ts';
import { backUpFirst } from '../../../reconcile/cluster/decide/rules/rolling/back-up-first.ts';
import { upgrade } from '../../../reconcile/cluster/decide/rules/rolling/upgrade.ts';
import { backupAhead } from '../../../reconcile/cluster/know/backups/ahead.ts';
import { backupFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { AwaitedBackupView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';
import { all, healthy, noQuorum, withInputs, withRecord, withSet } from './observations.ts';

const now = new Date('2026-01-02T03:04:05Z');
const long = new Date('2026-01-02T01:04:05Z');
const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } as const;
const required: ClusterBackup = { to, verify: 'Trailer' };
const bestEffort: ClusterBackup = { ...required, beforeUpgrade: 'BestEffort' };
type Known = Extract<AwaitedBackupView, { kind: 'known' }>;
const found = (state: Known['state'], askedAt = now): Known => ({
  kind: 'known',
  before: 'upgrade',
  name: 'b',
  state,
  message: 'the bucket is full',
  askedAt,
});
const wish = { before: 'upgrade', start: { from: '3.6.16', clusterId: 'c1c1' } } as const;
const missing = { kind: 'missing', before: 'upgrade', name: 'b', wish } as const;
const tooOld = { name: 'c', wish: { ...wish, after: 'b-uid' } };
const unknown = { kind: 'unknown', before: 'upgrade', cause: 'forbidden' } as const;

function said(backup: ClusterBackup, awaitedBackup?: AwaitedBackupView, version = '3.6.20') {
  const seen = healthy(3, { spec: { version, backup } });
  return backUpFirst(situate({ ...seen, ...(awaitedBackup && { awaitedBackup }) }));
}

/** Its pod is made of what its peer asks for. */
function onItsTemplate(slot: Slot): Slot {
  return slot.peer ? withSet({ inputsHash: inputsHash(slot.peer.inputs) })(slot) : slot;
}

describe('before an upgrade', () => {
  for (const [what, policy, view, expected] of [
    ['a backup is asked for', required, missing, 'act BackingUp'],
    ['it is awaited', required, found('under-way'), 'wait BackingUp'],
    ['it is there: the upgrade begins', required, found('good'), undefined],
    ['it failed: a person is asked', required, found('failed'), 'refuse BackupFailed'],
    ['it asks for a person: so does the upgrade', required, found('stalled'), 'refuse BackupFailed'],
    ['it is being deleted: that is awaited', required, found('leaving'), 'wait BackingUp'],
    [
      'it takes longer than two deadlines: a person is asked',
      required,
      found('under-way', long),
      'refuse BackupFailed',
    ],
    ['it ended too long ago: another one is asked for', required, { ...found('good'), tooOld }, 'act BackingUp'],
    ['best effort: it is being deleted', bestEffort, found('leaving'), 'wait BackingUp'],
    ['best effort: its deletion takes too long, and the upgrade begins', bestEffort, found('leaving', long), undefined],
    ['best effort: it failed too long ago', bestEffort, { ...found('failed'), tooOld }, 'act BackingUp'],
    ['its name is taken: a person is asked', required, found('foreign'), 'refuse BackupFailed'],
    ['backups can’t be read: a person is asked', required, unknown, 'refuse BackupsNotPermitted'],
    ['best effort: it is asked for', bestEffort, missing, 'act BackingUp'],
    ['best effort: it is awaited', bestEffort, found('under-way'), 'wait BackingUp'],
    ['best effort: it asks for a person, and the upgrade begins', bestEffort, found('stalled'), undefined],
    ['best effort: it takes too long, and the upgrade begins', bestEffort, found('under-way', long), undefined],
    ['best effort: it failed, and the upgrade begins', bestEffort, found('failed'), undefined],
    ['best effort: backups can’t be read, and the upgrade begins', bestEffort, unknown, undefined],
  ] as const) {
    test(what, () => {
      const decision = said(policy, view);
      assert.equal(decision && `${decision.kind} ${decision.reason}`, expected);
    });
  }

  test('while a member is given the minor before, none is asked for', () => {
    const slots = { 1: withInputs({ version: '3.6.15' }) };
    const seen = healthy(3, { spec: { version: '3.7.3', backup: required }, slots });
    assert.equal(backUpFirst(situate({ ...seen, awaitedBackup: missing })), undefined);
  });

  test('while it is awaited, what the backup itself says is told', () => {
    assert.match(
      said(required, found('under-way'))?.message ?? '',
      /EtcdBackup b, asked for at 2026\S+Z, is Ready: the bucket is full/,
    );
  });

  test('a refusal tells the cause, the cure and the way without', () => {
    const decision = said(required, found('failed'));
    assert.ok(decision?.kind === 'refuse');
    assert.match(decision.message, /the bucket is full/);
    assert.match(
      decision.cure,
      /delete etcdbackups\.etcd\.ratchet\.dev b: .*spec\.backup\.beforeUpgrade of EtcdCluster orders to Never/,
    );
  });

  test('while the upgrade itself waits for something else, no backup is taken anew', () => {
    const seen = healthy(3, { spec: { version: '3.6.20', backup: required } });
    const waiting = { ...seen, membership: { kind: 'unknown', cause: 'etcd is silent' } as const };
    assert.equal(backUpFirst(situate({ ...waiting, awaitedBackup: { ...found('good'), tooOld } })), undefined);
  });

  test('while the upgrade is refused for its image, no backup is taken anew', () => {
    const seen = healthy(3, {
      spec: { version: '3.6.20', backup: required },
      slots: { 0: all(withInputs({ version: '3.6.20' }), onItsTemplate) },
    });
    const situation = situate({ ...seen, awaitedBackup: { ...found('good'), tooOld } });
    assert.equal(upgrade(situation)?.reason, 'ImageOfAnotherVersion');
    assert.equal(backUpFirst(situation), undefined);
  });

  test('while the minor before it settles, no backup is taken anew', () => {
    const seen = healthy(3, { spec: { version: '3.7.3', backup: required } });
    const awaitedBackup = { ...found('good'), tooOld };
    const situation = situate({ ...seen, clusterVersion: '3.5.0', awaitedBackup });
    assert.equal(upgrade(situation)?.kind, 'wait');
    assert.equal(backUpFirst(situation), undefined);
  });

  test('without a quorum the last backup is not taken anew: no member could give one', () => {
    const backup: ClusterBackup = { ...required, beforeDeletion: 'Required' };
    const seen = healthy(3, { spec: { backup }, membership: noQuorum('no member runs') });
    const awaitedBackup = { ...found('good'), before: 'deletion', tooOld } as const;
    const asked = { before: 'deletion', what: 'the deletion' } as const;
    assert.equal(awaitBackup(situate({ ...seen, awaitedBackup }), asked), undefined);
  });

  test('a deletion whose last backup is not owed any more waits for none', () => {
    const deletionTimestamp = now.toISOString();
    const backup: ClusterBackup = { ...required, beforeDeletion: 'Required' };
    const deleted = (finalizers: string[]) =>
      backupAhead(healthy(3, { spec: { backup }, metadata: { deletionTimestamp, finalizers } }));
    assert.deepEqual(deleted([backupFinalizer]), { before: 'deletion' });
    assert.equal(deleted([]), undefined);
  });

  test('a hibernation that has begun waits for none: its members stop', () => {
    const spec = { replicas: 0, backup: { ...required, beforeHibernation: 'Required' } } as const;
    assert.deepEqual(backupAhead(healthy(3, { spec })), { before: 'hibernation' });
    const begun = healthy(3, { spec, slots: { 1: withRecord({ state: 'hibernating' }) } });
    assert.equal(backupAhead(begun), undefined);
  });

  test('its name is one that the API server takes, however long the name of the cluster', () => {
    const { cluster } = healthy(3, { spec: { version: '3.6.20', backup: required } });
    const [rule] = etcdBackupRules;
    assert.ok(rule && 'holds' in rule);
    const holds = rule.holds as (backup: EtcdBackup) => boolean;
    for (const name of ['orders', 'o'.repeat(48)]) {
      for (const asked of [wish, { ...wish, after: 'f'.repeat(36) }]) {
        const made = backupBefore({ ...cluster, metadata: { ...cluster.metadata, name } }, asked);
        assert.ok(holds(made), made.metadata.name);
        assert.equal(made.spec.clusterName, name);
      }
    }
  });

  test('a version may be written with its v', () => {
    assert.equal(said(required, missing, 'v3.6.20')?.reason, 'BackingUp');
  });

  test('none is asked for before a version that is refused, or one that is lower', () => {
    assert.equal(said(required, missing, '3.9.0'), undefined);
    assert.equal(said(required, missing, '3.6.1'), undefined);
  });

  test('none once the upgrade has begun to give members the version', () => {
    const change = withRecord({ rollsTo: '3.6.20', nextVersion: '3.6.20' });
    const seen = healthy(3, { spec: { version: '3.6.20', backup: required }, slots: { 1: change } });
    assert.equal(backUpFirst(situate({ ...seen, awaitedBackup: missing })), undefined);
  });

  test('a member that got the version by another way begins no upgrade', () => {
    for (const change of [withInputs({ version: '3.6.20' }), withRecord({ nextVersion: '3.6.20' })]) {
      const seen = healthy(3, { spec: { version: '3.6.20', backup: required }, slots: { 1: change } });
      assert.equal(backUpFirst(situate({ ...seen, awaitedBackup: missing }))?.reason, 'BackingUp');
    }
  });
});

async function born(backup: ClusterBackup): Promise<World> {
  const world = createWorld();
  await world.apply({ backup });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
  return world;
}

async function backupsIn({ kube }: World): Promise<readonly EtcdBackup[]> {
  return (await kube.list<EtcdBackup>(resources.backups, { namespace })).items;
}

/** What the steps of backups would make of it. */
async function end(world: World, status: 'True' | 'False'): Promise<void> {
  const at = new Date(world.now()).toISOString();
  for (const backup of await backupsIn(world)) {
    if (backup.status?.finishedAt !== undefined) continue;
    const reason = status === 'True' ? 'Verified' : 'Forbidden';
    const ready = { type: 'Ready', status, reason, message: 'as it went', lastTransitionTime: at };
    const told = { observedGeneration: 1, finishedAt: at, conditions: [ready] };
    await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...backup, status: told });
  }
}

describe('an upgrade that waits for its backup', () => {
  test('is planned with it, asks for it once, and begins when it is Ready', async () => {
    const world = await born(required);
    const { planned } = await world.plan({ backup: required, version: '3.7.3' });
    await world.apply({ backup: required, version: '3.7.3' });
    const reached = await tickUntilConverged(world, { meanwhile: () => end(world, 'True'), limit: 300 });
    assert.equal(reached.kind, 'done');
    assert.deepEqual(
      reached.steps.map(({ action, target }) => `${action} ${target}`),
      planned?.steps.map(({ action, target }) => `${action} ${target}`),
    );
    assert.equal(reached.steps[0]?.action, 'back-up');
    assert.match(planned?.summary ?? '', /: a backup, 3\.6\.16→3\.7\.3/);
    const [backup, ...others] = await backupsIn(world);
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(backup?.spec, { clusterName: 'orders', to, verify: 'Trailer' });
    assert.equal(backup?.metadata.ownerReferences, undefined, 'it outlives the cluster');
  });

  test('does not begin when it has failed, and begins when a new one is good', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    const stalled = await tickUntilConverged(world, { meanwhile: () => end(world, 'False') });
    assert.deepEqual([stalled.kind, stalled.reason], ['refuse', 'BackupFailed']);
    assert.deepEqual(
      world.cluster()?.status?.members?.map(({ version }) => version),
      ['3.6.16', '3.6.16', '3.6.16'],
    );
    for (const { metadata } of await backupsIn(world)) world.kube.remove(resources.backups, namespace, metadata.name);
    const reached = await tickUntilConverged(world, { meanwhile: () => end(world, 'True'), limit: 300 });
    assert.equal(reached.kind, 'done');
  });

  test('asks for no other one in the place of a required one that failed, however long ago', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    await world.tick();
    await end(world, 'False');
    world.advance(3 * 3600);
    await world.tick();
    assert.equal((await backupsIn(world)).length, 1);
  });

  test('begins without an EtcdBackup that the API server refuses only where it is best effort', async () => {
    for (const [backup, version] of [
      [required, '3.6.16'],
      [bestEffort, '3.7.3'],
    ] as const) {
      const world = await born(backup);
      const forbidden = { class: 'terminal', status: 403, reason: 'Forbidden' } as const;
      world.refusing.set('back-up', new KubeError('403 exceeded quota', forbidden));
      await world.apply({ backup, version: '3.7.3' });
      await tickUntilConverged(world, { limit: 300 });
      assert.equal(world.cluster()?.status?.members?.[0]?.version, version);
    }
  });

  test('asks for one backup, however often the spec changes while it waits', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    for (const quotaBackendBytes of ['200Mi', '300Mi', '400Mi']) {
      await world.tick();
      await world.apply({ backup: required, version: '3.7.3', etcd: { quotaBackendBytes } });
    }
    await world.tick();
    assert.equal((await backupsIn(world)).length, 1);
    await end(world, 'True');
    assert.equal((await tickUntilConverged(world, { limit: 300 })).kind, 'done');
    assert.equal((await backupsIn(world)).length, 1);
  });

  test('asks for another where it is to lie elsewhere, or is of another life', () => {
    const { cluster } = healthy(3, { spec: { version: '3.6.20', backup: required } });
    const { start } = wish;
    const elsewhere = { ...required, to: { object: 'pvc://others/{{timestamp}}.db' } };
    const names = [
      backupBeforeName(cluster, wish),
      backupBeforeName(cluster, { ...wish, start: { ...start, clusterId: 'd2d2' } }),
      backupBeforeName(cluster, { ...wish, start: { ...start, from: '3.6.15' } }),
      backupBeforeName({ ...cluster, spec: { ...cluster.spec, backup: elsewhere } }, wish),
      backupBeforeName({ ...cluster, spec: { ...cluster.spec, version: '3.6.21' } }, wish),
    ];
    assert.equal(new Set(names).size, names.length);
    const later = { ...cluster, metadata: { ...cluster.metadata, generation: 99, uid: 'adopted' } };
    assert.equal(backupBeforeName(later, wish), names[0]);
  });

  test('takes it again when it was suspended for days, and keeps the old one until then', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    await world.tick();
    await end(world, 'True');
    await world.apply({ backup: required, version: '3.7.3', suspend: true });
    await world.tick();
    world.advance(3 * 24 * 3600);
    await world.apply({ backup: required, version: '3.7.3' });
    await world.tick();
    assert.equal((await backupsIn(world)).length, 2);
    assert.equal(world.cluster()?.status?.lastDecision?.reason, 'BackingUp');
    assert.equal((await tickUntilConverged(world, { meanwhile: () => end(world, 'True'), limit: 300 })).kind, 'done');
    assert.equal((await backupsIn(world)).length, 2);
  });

  test('counts the freshness of a backup from the pod that took it, by the API server’s clock', async () => {
    for (const [what, podMinutes, endMinutes, made] of [
      ['its proof took long', 70, 10, 2],
      ['its proof took longer than an hour, and has just ended', 120, 1, 1],
      ['it is fresh', 50, 30, 1],
    ] as const) {
      const world = await born(required);
      await world.apply({ backup: required, version: '3.7.3' });
      await world.tick();
      const before = (minutes: number) => new Date(world.now() - minutes * 60_000).toISOString();
      for (const one of await backupsIn(world)) {
        const ready = {
          type: 'Ready',
          status: 'True',
          reason: 'Verified',
          message: '',
          lastTransitionTime: before(0),
        } as const;
        const status = {
          observedGeneration: 1,
          finishedAt: before(endMinutes),
          podCreatedAt: before(podMinutes),
          conditions: [ready],
        };
        await world.kube.updateStatus<EtcdBackup>(resources.backups, { ...one, status });
      }
      await world.tick();
      assert.equal((await backupsIn(world)).length, made, what);
    }
  });

  test('finds what lost its labels by its name', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    await world.tick();
    const [made = assert.fail()] = await backupsIn(world);
    await world.kube.update<EtcdBackup>(resources.backups, { ...made, metadata: { ...made.metadata, labels: {} } });
    assert.equal((await tickUntilConverged(world, { meanwhile: () => end(world, 'True'), limit: 300 })).kind, 'done');
    assert.equal((await backupsIn(world)).length, 1);
  });

  test('goes on after two deadlines where it is best effort, and only there', async () => {
    for (const [backup, version] of [
      [required, '3.6.16'],
      [bestEffort, '3.7.3'],
    ] as const) {
      const world = await born(backup);
      await world.apply({ backup, version: '3.7.3' });
      await world.tick();
      await world.tick();
      assert.equal(world.cluster()?.status?.lastDecision?.reason, 'BackingUp');
      world.advance(2 * 3600 + 60);
      await tickUntilConverged(world, { limit: 300 });
      assert.equal(world.cluster()?.status?.members?.[0]?.version, version);
    }
  });

  test('takes over no EtcdBackup of another', async () => {
    const world = await born(required);
    await world.apply({ backup: required, version: '3.7.3' });
    await world.tick();
    const [made = assert.fail()] = await backupsIn(world);
    const { [annotations.beforeUpgrade]: _, ...rest } = made.metadata.annotations ?? {};
    await world.kube.update<EtcdBackup>(resources.backups, {
      ...made,
      metadata: { ...made.metadata, annotations: rest },
    });
    await end(world, 'True');
    const stalled = await tickUntilConverged(world);
    assert.deepEqual([stalled.kind, stalled.reason], ['refuse', 'BackupFailed']);
  });

  test('a cluster without the wish is upgraded as ever', async () => {
    const world = await born({ ...required, beforeUpgrade: 'Never' });
    await world.apply({ backup: { ...required, beforeUpgrade: 'Never' }, version: '3.7.3' });
    assert.equal((await tickUntilConverged(world, { limit: 300 })).kind, 'done');
    assert.deepEqual(await backupsIn(world), []);
  });
});
