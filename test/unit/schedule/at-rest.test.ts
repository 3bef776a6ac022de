import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { dueBackup } from '../../../manifests/render/schedule-objects.ts';
import { backupLister } from '../../../reconcile/backup/list.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { firstSteps } from '../../../reconcile/stepping/loop.ts';
import { kindContext } from '../../support/kind-context.ts';
import { createLife, type Life } from './life.ts';

/** What a tick reads of backups: those that are done only where a schedule has something to do with them. */

const lists = (life: Life, from: number) =>
  life.kube
    .journal()
    .slice(from)
    .map(({ key }) => key);

async function next(life: Life, minutes: number): Promise<readonly string[]> {
  const before = life.kube.journal().length;
  await life.run(minutes, () => undefined);
  return lists(life, before);
}

const atRest = ['LIST etcdbackupschedules', 'LIST etcdbackups'];

test('backups that are done are read when one has ended or is due, and not at rest', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(60);
  assert.equal((await next(life, 1)).length, 4, 'one has ended: its schedule reads all of them, and tells');
  assert.equal(life.schedule().status?.lastGood?.name, 'nightly-202603010100');
  assert.deepEqual(await next(life, 2), [...atRest, ...atRest]);
  const nextAt = await life.tick();
  assert.equal(nextAt?.toISOString(), '2026-03-01T02:00:00.000Z', 'it is looked at when the next one is due');
});

test('after a step that began nothing the next look comes when a backup is due', async () => {
  const life = createLife({ schedule: '@hourly' });
  assert.equal((await life.tick())?.toISOString(), '2026-03-01T01:00:00.000Z');
});

test('a schedule at rest that this release does not understand is told', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(2);
  const { spec, ...rest } = life.schedule();
  life.kube.seed(resources.schedules, { ...rest, spec: { ...spec, timeZone: 'Mars/Olympus' } });
  await life.run(1);
  assert.equal(life.schedule().status?.conditions?.[0]?.reason, 'InvalidSchedule');
});

test('a schedule that is suspended, or has nothing to prune yet, is at rest', async () => {
  for (const [spec, due] of [
    [{ suspend: true }, undefined],
    [{ schedule: '@hourly', retention: { last: 2 } }, '2026-03-01T01:00:00.000Z'],
  ] as const) {
    const life = createLife(spec);
    await life.run(1);
    assert.deepEqual(await next(life, 1), atRest);
    assert.equal((await life.tick())?.toISOString(), due);
  }
});

test('a schedule rests while backups of others are under way, whatever their owner is said to be', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(2);
  const { metadata, ...backup } = dueBackup(life.schedule(), life.clock);
  for (const others of [{ ownerReferences: [] }, { namespace: 'mallory' }])
    life.kube.seed(resources.backups, { ...backup, metadata: { ...metadata, ...others } });
  const before = life.kube.journal().length;
  await firstSteps('schedule', kinds.schedule, kindContext({ kube: life.kube }));
  assert.deepEqual(lists(life, before), atRest);
});

test('a plan writes nothing', async () => {
  const life = createLife();
  life.clock = new Date('2026-03-01T00:10:30Z');
  await firstSteps('schedule', kinds.schedule, { ...life.context(), dryRun: true });
  assert.deepEqual(lists(life, 0), [...atRest, 'LIST etcdbackups']);
});

test('a failed backup is read again until a person has deleted it, and that is told', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(60, () => life.finish(false));
  await life.run(2);
  const said = () => life.schedule().status?.conditions?.[0]?.reason;
  assert.equal(said(), 'LastBackupFailed');
  life.kube.remove(resources.backups, 'default', 'nightly-202603010100');
  await life.run(1);
  assert.equal(said(), 'Scheduled');
  assert.deepEqual(await next(life, 1), atRest);
});

test('a schedule at rest is told too old by the clock alone', async () => {
  const life = createLife({ schedule: '0 0 1 1 *', maxAge: '30m' });
  await life.run(29);
  assert.equal(life.schedule().status?.conditions?.[0]?.reason, 'Scheduled');
  await life.run(3);
  assert.equal(life.schedule().status?.conditions?.[0]?.reason, 'BackupTooOld');
});

test('a changed spec, a suspension and a lost status are looked at, once', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(2);
  for (const change of [{ suspend: true }, { suspend: false }, { history: { good: 1 } }]) {
    const { metadata, spec, ...rest } = life.schedule();
    const generation = (metadata.generation ?? 0) + 1;
    life.kube.seed(resources.schedules, {
      ...rest,
      metadata: { ...metadata, generation },
      spec: { ...spec, ...change },
    });
    await life.run(1);
    assert.equal(life.schedule().status?.observedGeneration, generation);
    assert.deepEqual(await next(life, 1), atRest);
  }
  const { status: _, ...lost } = life.schedule();
  life.kube.seed(resources.schedules, lost);
  await life.run(1);
  assert.ok(life.schedule().status?.nextAt);
});

test('where the API server does not select by the mark, all are listed, and that is said once', async () => {
  const life = createLife({ schedule: '@hourly' });
  await life.run(61);
  const [done] = life.kube.stored<EtcdBackup>(resources.backups);
  assert.ok(done?.status?.settled);
  const said: string[] = [];
  life.fault = (request, when) => {
    if (when === 'before' && request.key === 'LIST etcdbackups' && said.length === 0)
      throw refusal(request, { code: 400, reason: 'BadRequest', message: 'field label not supported: status.settled' });
  };
  const list = backupLister({
    kube: life.kube,
    signal: AbortSignal.timeout(10_000),
    log: (_, message) => said.push(message),
  });
  const before = life.kube.journal().length;
  assert.deepEqual([(await list()).items, (await list()).items], [[], []]);
  assert.equal(lists(life, before).length, 3);
  assert.deepEqual(said.length, 1);
  assert.match(said[0] ?? '', /apply the CRDs of this release/);
});
