import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { refusal } from '../../../reconcile/clients/kube-errors.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kinds } from '../../../reconcile/kinds.ts';
import { stepKinds } from '../../../reconcile/stepping/run.ts';
import { createLife, type Life, start, template } from './life.ts';

function ready(life: Life): string {
  const { status, reason, message } = life.schedule().status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
  return `${status} ${reason}: ${message}`;
}

/** Names of all backups that were ever made. */
function made(life: Life): readonly string[] {
  const posts = life.kube.journal().filter(({ key }) => key === 'POST etcdbackups');
  return posts.map(({ body }) => body?.metadata.name ?? '');
}

function change(life: Life, spec: Partial<EtcdBackupSchedule['spec']>): void {
  const now = life.schedule();
  const generation = (now.metadata.generation ?? 0) + 1;
  life.kube.seed(resources.schedules, {
    ...now,
    metadata: { ...now.metadata, generation },
    spec: { ...now.spec, ...spec },
  });
}

test('each due time has one backup, named after it and controlled by its schedule', async () => {
  const life = createLife();
  await life.run(35);
  assert.deepEqual(made(life), ['nightly-202603010010', 'nightly-202603010020', 'nightly-202603010030']);
  const [first] = life.kube.stored<EtcdBackup>(resources.backups);
  assert.equal(first?.metadata.ownerReferences?.[0]?.uid, 'schedule-uid');
  assert.equal(first?.metadata.annotations?.['etcd.ratchet.dev/due-at'], '2026-03-01T00:10:00.000Z');
  assert.deepEqual(first?.spec, life.schedule().spec.template);
  assert.partialDeepStrictEqual(life.schedule().status, {
    nextAt: '2026-03-01T00:40:00Z',
    lastAt: '2026-03-01T00:30:00Z',
    lastName: 'nightly-202603010030',
    lastGood: { name: 'nightly-202603010030', object: 'gs://bucket/nightly-202603010030.db' },
  });
  assert.equal(ready(life), 'True Scheduled: the next backup is due at 2026-03-01T00:40:00Z');
});

test('a schedule at rest costs two lists, and writes nothing', async () => {
  const life = createLife({ schedule: '@daily' });
  await life.run(2);
  const before = life.kube.journal().length;
  await life.run(5);
  const keys = life.kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
  assert.deepEqual(keys, Array.from({ length: 5 }, () => ['LIST etcdbackupschedules', 'LIST etcdbackups']).flat());
});

test('the backups that it listed serve for what comes after it, where it changed none', async () => {
  const life = createLife();
  const table = { schedule: { ...kinds.schedule, after: {} }, backup: kinds.backup };
  const listsOfPass = async () => {
    const before = life.kube.journal().length;
    await stepKinds(table, { ...life.context(), dryRun: false });
    const asked = life.kube.journal().slice(before);
    return asked.filter(({ key, namespace }) => key === 'LIST etcdbackups' && namespace === 'default').length;
  };
  // It reads its own history as well.
  assert.equal(await listsOfPass(), 2);
  life.clock = new Date(life.clock.getTime() + 10 * 60_000);
  assert.equal(await listsOfPass(), 3, 'listed again, because it has just made one');
  assert.equal(life.backups().length, 1);
});

test('without schedules a pass costs one list, and where they are not installed as well', async () => {
  for (const serves of [true, false]) {
    const life = createLife();
    life.kube.remove(resources.schedules, 'default', 'nightly');
    if (!serves)
      life.fault = (request, when) => {
        if (request.key === 'LIST etcdbackupschedules' && when === 'before')
          throw refusal(request, { code: 404, reason: 'NotFound', message: 'no such kind' });
      };
    await life.tick();
    assert.deepEqual(
      life.kube.journal().map(({ key }) => key),
      ['LIST etcdbackupschedules'],
    );
  }
});

test('of all that was missed the last one is caught up, once', async () => {
  const life = createLife();
  life.clock = new Date('2026-03-02T05:25:00Z');
  await life.run(3);
  assert.deepEqual(made(life), ['nightly-202603020520']);
});

test('what is later than the starting deadline does not begin, and is told', async () => {
  const life = createLife({ schedule: '0 1 * * *', startingDeadline: '30m' });
  life.clock = new Date('2026-03-01T01:31:00Z');
  await life.run(3);
  assert.deepEqual(made(life), []);
  assert.match(ready(life), /the one due at 2026-03-01T01:00:00Z did not begin within spec.startingDeadline/);
  life.clock = new Date('2026-03-02T01:20:00Z');
  await life.run(1);
  assert.deepEqual(made(life), ['nightly-202603020100']);
});

test('while a backup is under way the next one waits, and begins once it is over', async () => {
  const life = createLife();
  await life.run(45, () => undefined);
  assert.deepEqual(made(life), ['nightly-202603010010']);
  assert.match(ready(life), /nightly-202603010010 under way; the one due at 2026-03-01T00:40:00Z begins after/);
  life.finish();
  await life.run(1);
  assert.deepEqual(made(life), ['nightly-202603010010', 'nightly-202603010040']);
});

test('Replace gives up what is under way, and Allow lets both go on', async () => {
  const replace = createLife({ concurrencyPolicy: 'Replace' });
  await replace.run(25, () => undefined);
  assert.deepEqual(replace.backups(), ['nightly-202603010020']);
  const allow = createLife({ concurrencyPolicy: 'Allow' });
  await allow.run(25, () => undefined);
  assert.deepEqual(allow.schedule().status?.active, ['nightly-202603010010', 'nightly-202603010020']);
});

test('what Replace could not give up is told as under way', async () => {
  const life = createLife({ concurrencyPolicy: 'Replace' });
  life.fault = (request, when) => {
    if (request.key === 'DELETE etcdbackups' && when === 'before') throw refusal(request, { code: 403 });
  };
  await life.run(21, () => undefined);
  assert.match(ready(life), /^False StartRefused/);
  assert.deepEqual(life.schedule().status?.active, ['nightly-202603010010']);
});

test('a suspended schedule begins nothing, and catches up once when it goes on', async () => {
  const life = createLife({ suspend: true });
  await life.run(40);
  assert.deepEqual(made(life), []);
  assert.match(ready(life), /^True Suspended/);
  assert.equal(life.schedule().status?.nextAt, undefined);
  change(life, { suspend: false });
  await life.run(1);
  assert.deepEqual(made(life), ['nightly-202603010040']);
});

test('a clock that goes back makes nothing twice, not even where the status was lost', async () => {
  const life = createLife();
  await life.run(35);
  const before = made(life);
  life.clock = new Date('2026-03-01T00:12:00Z');
  await life.run(10);
  const { status: _, ...bare } = life.schedule();
  life.kube.seed(resources.schedules, bare);
  await life.run(10);
  assert.deepEqual(made(life), before);
  await life.run(10);
  assert.deepEqual(made(life), [...before, 'nightly-202603010040']);
});

test('a clock that was years ahead stops no backups when it is right again', async () => {
  const life = createLife({ maxAge: '1h', history: { good: 2 }, retention: { last: 2 } });
  const done = () => {
    life.finish();
    life.endPrune({ ok: true, pruned: { kept: 1, removed: 0 } });
  };
  life.clock = new Date('2031-01-01T00:00:00Z');
  await life.run(2, done);
  life.clock = new Date('2026-03-01T01:05:00Z');
  await life.run(20, done);
  assert.deepEqual(made(life).slice(-2), ['nightly-202603010110', 'nightly-202603010120']);
  assert.equal(life.schedule().status?.lastGood?.name, 'nightly-202603010120');
  assert.deepEqual(life.backups(), ['nightly-202603010110', 'nightly-202603010120'], 'the history has room for them');
  assert.equal(life.schedule().status?.retention?.after, 'nightly-202603010120');
});

test('a backup that a wrong clock left unfinished holds up none of those that are due', async () => {
  const life = createLife({ concurrencyPolicy: 'Allow' });
  life.clock = new Date('2031-01-01T00:00:00Z');
  await life.run(1, () => undefined);
  life.clock = new Date('2026-03-01T01:05:00Z');
  await life.run(6, () => undefined);
  assert.deepEqual(made(life), ['nightly-203101010000', 'nightly-202603010100', 'nightly-202603010110']);
});

test('of two invocations that see the same, one makes the backup', async () => {
  const life = createLife();
  life.clock = new Date('2026-03-01T00:10:01Z');
  await Promise.all([life.tick(), life.tick()]);
  assert.deepEqual(life.backups(), ['nightly-202603010010']);
  await life.tick();
  assert.equal(life.schedule().status?.lastAt, '2026-03-01T00:10:00Z');
});

test('an invocation that dies before or after any write leaves one backup for each time', async () => {
  for (const key of ['POST etcdbackups', 'PUT etcdbackupschedules/status', 'POST jobs', 'DELETE etcdbackups']) {
    for (const when of ['before', 'after'] as const) {
      const life = createLife({ retention: { last: 2 }, history: { good: 1 } });
      let deaths = 0;
      life.fault = (request, at) => {
        if (request.key !== key || at !== when || deaths === 2) return;
        deaths++;
        throw new Error('killed');
      };
      for (let minute = 0; minute < 45; minute++) {
        life.clock = new Date(life.clock.getTime() + 60_000);
        await life.tick().catch((error: unknown) => assert.equal(String(error), 'Error: killed'));
        life.finish();
        life.endPrune({ ok: true, pruned: { kept: 1, removed: 0 } });
      }
      assert.equal(deaths, 2, key);
      assert.equal(new Set(made(life)).size, 4, `${key} ${when}: ${made(life)}`);
      assert.deepEqual(life.backups(), ['nightly-202603010040']);
    }
  }
});

test('finished backups are kept as history up to a bound, good and failed ones apart', async () => {
  const life = createLife({ history: { good: 2, failed: 1 } });
  let count = 0;
  await life.run(85, () => life.finish(count++ % 20 < 10));
  const good = life.kube
    .stored<EtcdBackup>(resources.backups)
    .map(({ metadata, status }) => [metadata.name.slice(-4), status?.conditions?.[0]?.status]);
  assert.deepEqual(good, [
    ['0050', 'True'],
    ['0110', 'True'],
    ['0120', 'False'],
  ]);
});

test('a backup that is under way is no history, however few failed ones are kept', async () => {
  const life = createLife({ history: { failed: 0 } });
  await life.run(15, () => undefined);
  assert.deepEqual(life.backups(), ['nightly-202603010010']);
});

test("another one's backups are neither counted nor deleted", async () => {
  const life = createLife({ history: { good: 1 } });
  await life.run(11);
  const [own] = life.kube.stored<EtcdBackup>(resources.backups);
  assert.ok(own);
  const metadata = {
    ...own.metadata,
    name: 'by-hand',
    uid: 'by-hand',
    ownerReferences: [],
    labels: own.metadata.labels ?? {},
  };
  life.kube.seed(resources.backups, { ...own, metadata, status: { observedGeneration: 1 } });
  await life.run(30);
  assert.deepEqual(life.backups(), ['by-hand', 'nightly-202603010040']);
});

test('Ready is False while the newest good backup is older than maxAge', async () => {
  const life = createLife({ maxAge: '25m' });
  await life.run(12);
  assert.match(ready(life), /^True Scheduled/);
  await life.run(30, () => life.finish(false));
  assert.match(
    ready(life),
    /^False BackupTooOld: the newest good backup, nightly-202603010010, was taken at 2026-03-01T00:10:30/,
  );
  const stalled = life
    .schedule()
    .status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');
  assert.match(stalled?.message ?? '', /spec\.maxAge.*backup-fails\.md#a-schedule\)$/s);
  const writes = () => life.kube.requests()['PUT etcdbackupschedules/status'] ?? 0;
  const before = writes();
  await life.run(3);
  assert.equal(writes(), before, 'the age does not grow in the message');
  await life.run(8);
  assert.match(ready(life), /^True Scheduled/);
});

test('maxAge counts on from the last backup before a rollback, and names its etcd cluster', async () => {
  const life = createLife({ maxAge: '25m' });
  await life.run(12, () => life.finish(true, 'aaaa'));
  assert.equal(life.schedule().status?.lastGood?.clusterID, 'aaaa');
  // Rolled back by now: no backup of the new life is good. What it has written since is younger than that one.
  await life.run(30, () => life.finish(false));
  assert.match(
    ready(life),
    /^False BackupTooOld: the newest good backup, nightly-202603010010 \(of etcd cluster aaaa\)/,
  );
  await life.run(9, () => life.finish(true, 'bbbb'));
  assert.match(ready(life), /^True Scheduled/);
  assert.equal(life.schedule().status?.lastGood?.clusterID, 'bbbb');
});

test('without any good backup maxAge counts from when the schedule was made', async () => {
  const life = createLife({ schedule: '@yearly', maxAge: '10m' });
  await life.run(9);
  assert.match(ready(life), /^True/);
  await life.run(3);
  assert.match(ready(life), /^False BackupTooOld: there is no good backup/);
});

test('a failed backup is named with its cause, and the good one before it stays the last good', async () => {
  const life = createLife();
  await life.run(12);
  await life.run(10, () => life.finish(false));
  assert.equal(ready(life), 'False LastBackupFailed: nightly-202603010020: the bucket is full');
  assert.equal(life.schedule().status?.lastGood?.name, 'nightly-202603010010');
});

test('retention runs once after each good backup, one at a time, and its result is told', async () => {
  const life = createLife({ retention: { last: 2, daily: 7 }, timeZone: 'Europe/Berlin' });
  await life.run(35);
  assert.deepEqual(life.prunes(), ['nightly-202603010010-prune'], 'it is under way');
  const [job] = life.kube.stored(resources.jobs) as unknown as readonly {
    spec: { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } };
  }[];
  const env = job?.spec.template.spec.containers[0]?.env;
  const request = env?.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST');
  assert.deepEqual(JSON.parse(request?.value ?? ''), {
    operation: 'prune',
    prefix: 'gs://bucket/default/orders/',
    store: { gcs: { keyFile: '/etc/etcd-ratchet/gcs-key/key.json' } },
    schedule: 'schedule-uid',
    keep: { last: 2, daily: 7 },
    timeZone: 'Europe/Berlin',
    most: 200,
    dryRun: false,
    spare: [],
    deadlineSeconds: 3600,
  });
  life.endPrune({ ok: true, pruned: { dryRun: false, kept: 2, removed: 1, left: 0, others: 3, names: ['1.db'] } });
  await life.run(1);
  assert.partialDeepStrictEqual(life.schedule().status?.retention, { after: 'nightly-202603010030' });
  life.endPrune({
    ok: true,
    pruned: { dryRun: false, kept: 2, earlierLives: 1, removed: 1, left: 2, locked: 2, others: 3, names: ['1.db'] },
  });
  await life.run(1);
  assert.partialDeepStrictEqual(life.schedule().status?.retention, {
    after: 'nightly-202603010030',
    kept: 2,
    earlierLives: 1,
    removed: 1,
    locked: 2,
    others: 3,
    names: ['1.db'],
  });
  const ready = life.schedule().status?.conditions?.find(({ type }) => type === 'Ready');
  assert.match(ready?.message ?? '', /; 2 that are to go are locked in the store$/);
  await life.run(3);
  assert.deepEqual(life.prunes(), ['nightly-202603010010-prune', 'nightly-202603010030-prune']);
});

test('a retention follows no failed backup, and its Job is told as no backup under way', async () => {
  const life = createLife({ retention: { last: 2 } });
  await life.run(19, () => life.finish(false));
  assert.deepEqual(life.prunes(), []);
  await life.run(2);
  assert.deepEqual(life.prunes(), ['nightly-202603010020-prune']);
  assert.equal(life.schedule().status?.active, undefined);
});

test('a retention whose Job was deleted, or refused, is begun again', async () => {
  const life = createLife({ retention: { last: 2 } });
  life.fault = (request, when) => {
    if (request.key === 'POST jobs' && when === 'before') throw refusal(request, { code: 403 });
  };
  await life.run(12);
  assert.match(ready(life), /^False StartRefused/);
  assert.equal(life.schedule().status?.retention, undefined);
  life.fault = () => undefined;
  for (const _ of ['made', 'made again']) {
    await life.run(1);
    assert.deepEqual(life.prunes(), ['nightly-202603010010-prune']);
    life.kube.remove(resources.jobs, 'default', 'nightly-202603010010-prune');
  }
});

test('backups that a person has deleted after their retention hold up none that is due', async () => {
  const life = createLife({ retention: { last: 2 } });
  await life.run(12);
  life.endPrune({ ok: true, pruned: { kept: 1, removed: 0 } });
  await life.run(1);
  life.kube.remove(resources.backups, 'default', 'nightly-202603010010');
  await life.run(8);
  assert.deepEqual(life.backups(), ['nightly-202603010020']);
});

test('a dry run of retention is asked for as such, and tells what would go', async () => {
  const life = createLife({ retention: { last: 2, mode: 'DryRun' } });
  await life.run(12);
  const [job] = life.kube.stored<Job>(resources.jobs);
  const [{ env = [] } = {}] = job?.spec.template.spec.containers ?? [];
  const { value = '' } = env.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST') ?? {};
  assert.partialDeepStrictEqual(JSON.parse(value), { operation: 'prune', dryRun: true });
  life.endPrune({
    ok: true,
    pruned: { dryRun: true, kept: 2, removed: 3, left: 0, others: 0, names: ['1.db', '2.db'] },
  });
  await life.run(1);
  const { retention, conditions } = life.schedule().status ?? {};
  assert.partialDeepStrictEqual(retention, { dryRun: true, kept: 2, removed: 3, names: ['1.db', '2.db'] });
  assert.equal(conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  await life.kube.update<EtcdBackupSchedule>(resources.schedules, {
    ...life.schedule(),
    spec: { ...life.schedule().spec, retention: { last: 2 } },
  });
  await life.run(20);
  assert.equal(life.schedule().status?.retention?.dryRun, undefined, 'the next one deletes');
});

test('a retention that fails, or says nonsense, is told and tried again after the next backup', async () => {
  for (const [said, words] of [
    [{ ok: false, reason: 'Forbidden', message: 'may not delete' }, /RetentionFailed: Forbidden: may not delete/],
    ['{"ok":"yes"}', /RetentionFailed: ResultLost: its pod said no result/],
    ['', /RetentionFailed: ResultLost: its pod is gone or said nothing/],
    [{ ok: false, reason: 'Odd', pruned: { kept: 1.5 } }, /RetentionFailed: Odd/],
    [{ ok: false, reason: 'Large', pruned: { kept: 2 ** 31 } }, /RetentionFailed: Large/],
    [
      { ok: false, reason: 7, message: null, pruned: { kept: -1, removed: 'x', names: [1, 'y'.repeat(9000)] } },
      /RetentionFailed: Unexpected/,
    ],
  ] as const) {
    const life = createLife({ retention: { last: 2 } });
    await life.run(11);
    await life.run(1);
    life.endPrune(said);
    await life.run(1);
    assert.match(ready(life), words);
    assert.equal(life.schedule().status?.retention?.kept, undefined);
    await life.run(10);
    assert.deepEqual(life.prunes(), ['nightly-202603010010-prune', 'nightly-202603010020-prune']);
  }
});

test('a retention that failed, or whose Job is gone, is told while one is asked for', async () => {
  for (const end of [
    (life: Life) => life.endPrune({ ok: false, reason: 'Forbidden', message: 'may not delete' }),
    (life: Life) => {
      life.kube.remove(resources.jobs, 'default', 'nightly-202603010010-prune');
      life.kube.remove(resources.backups, 'default', 'nightly-202603010010');
    },
  ]) {
    const life = createLife({ retention: { last: 2 } });
    await life.run(12);
    end(life);
    await life.run(1);
    assert.match(ready(life), /^False RetentionFailed: (Forbidden: may not delete|ResultLost: its Job is gone: )/);
    const { retention: _, ...spec } = life.schedule().spec;
    life.kube.seed(resources.schedules, { ...life.schedule(), spec });
    await life.run(1);
    assert.match(ready(life), /^True Scheduled/);
  }
});

test('beside a container that something put into its pod, a retention ends by its own word', async () => {
  const life = createLife({ retention: { last: 2 } });
  await life.run(12);
  life.endPrune({ ok: true, pruned: { kept: 2, removed: 1 } });
  const [pod = assert.fail()] = life.kube.stored<Pod>(resources.pods);
  const [job = assert.fail()] = life.kube.stored<Job>(resources.jobs);
  const proxy = { name: 'istio-proxy', ready: true, restartCount: 0, state: { running: {} } };
  const containerStatuses = [proxy, ...(pod.status?.containerStatuses ?? [])];
  life.kube.seed<Pod>(resources.pods, { ...pod, status: { containerStatuses } });
  life.kube.seed<Job>(resources.jobs, { ...job, status: {} });
  await life.run(1);
  assert.doesNotMatch(ready(life), /Retention/);
  assert.partialDeepStrictEqual(life.schedule().status, { retention: { removed: 1 } });
});

test('what a pod says that is of no Job of ours is not told as the end of a retention', async () => {
  const life = createLife({ retention: { last: 2 } });
  await life.run(12);
  life.endPrune({ ok: false, reason: 'Forbidden', message: 'may not delete' });
  const [pod = assert.fail()] = life.kube.stored<Pod>(resources.pods);
  const message = JSON.stringify({ ok: true, pruned: { kept: 1, removed: 1 } });
  const [said = assert.fail()] = pod.status?.containerStatuses ?? [];
  life.kube.seed<Pod>(resources.pods, {
    ...pod,
    metadata: { ...pod.metadata, name: 'zz', uid: 'zz', ownerReferences: [] },
    status: { ...pod.status, containerStatuses: [{ ...said, state: { terminated: { exitCode: 0, message } } }] },
  });
  await life.run(1);
  assert.match(ready(life), /RetentionFailed: Forbidden/);
});

test('a retention whose node died is told, and runs again after the next backup', async () => {
  const life = createLife({ retention: { last: 3 } });
  await life.run(12);
  const [job = assert.fail()] = life.kube.stored<Job>(resources.jobs);
  const given = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded' } as const;
  life.kube.seed<Job>(resources.jobs, { ...job, status: { conditions: [given] } });
  await life.run(2);
  assert.match(ready(life), /^False RetentionFailed: ResultLost: its pod is gone or said nothing/);
  await life.run(10);
  assert.equal(life.prunes().length, 2);
});

test('what the API server refuses is told with its words, and goes on when it is allowed', async () => {
  const life = createLife();
  life.fault = (request, when) => {
    if (request.key === 'POST etcdbackups' && when === 'before')
      throw refusal(request, { code: 403, reason: 'Forbidden', message: 'exceeded quota' });
  };
  await life.run(12);
  assert.match(ready(life), /^False StartRefused: .*exceeded quota/);
  life.fault = () => undefined;
  await life.run(1);
  assert.match(ready(life), /^True Scheduled/);
  assert.deepEqual(life.backups(), ['nightly-202603010010']);
});

test('what only an older API server let through is told, and begins nothing', async () => {
  for (const [spec, words] of [
    [{ schedule: '0 0 30 2 *' }, /InvalidSchedule: schedule: it is never due/],
    [{ timeZone: 'Mars/Olympus' }, /InvalidSchedule: timeZone: /],
    [{ template: { clusterName: 'orders', to: { object: 'nonsense' } } }, /InvalidSchedule: template.to.object: /],
  ] as const) {
    const life = createLife(spec);
    await life.run(12);
    assert.match(ready(life), words);
    assert.deepEqual(made(life), []);
  }
});

test('a schedule that is being deleted does nothing more', async () => {
  const life = createLife();
  const now = life.schedule();
  const metadata = { ...now.metadata, deletionTimestamp: '2026-03-01T00:00:40Z', finalizers: ['a/b'] };
  life.kube.seed(resources.schedules, { ...now, metadata });
  await life.run(12);
  assert.deepEqual(
    life.kube.journal().filter(({ key }) => !key.startsWith('LIST')),
    [],
  );
});

test('a backup that waits for a person makes its schedule say so, until it is over', async () => {
  const life = createLife();
  const stalled = { type: 'Stalled', status: 'True', reason: 'ClusterAbsent', message: 'x' } as const;
  const not = { type: 'Ready', status: 'False', reason: 'ClusterAbsent', message: 'there is no EtcdCluster' } as const;
  await life.run(11, () => {
    for (const backup of life.kube.stored<EtcdBackup>(resources.backups)) {
      const conditions = [not, stalled].map((one) => ({ ...one, lastTransitionTime: start }));
      life.kube.seed<EtcdBackup>(resources.backups, { ...backup, status: { observedGeneration: 1, conditions } });
    }
  });
  assert.deepEqual(ready(life), 'False BackupStuck: nightly-202603010010: there is no EtcdCluster');
  life.finish();
  await life.run(1);
  assert.match(ready(life), /^True Scheduled: /);
});

test('a Job of another under the name of a retention is named once, and the next one runs', async () => {
  const life = createLife({ retention: { last: 2 } });
  const foreign = { metadata: { namespace: 'default', name: 'nightly-202603010010-prune', uid: 'foreign' } };
  life.kube.seed(resources.jobs, foreign as unknown as Job);
  await life.run(13);
  const writes = () => life.kube.journal().filter(({ key }) => /^(POST|PUT|DELETE)/.test(key)).length;
  assert.match(
    ready(life),
    /^False RetentionFailed: JobNameTaken: Job nightly-202603010010-prune belongs to something else/,
  );
  const before = writes();
  await life.run(5);
  assert.equal(writes(), before, 'at rest nothing is written');
  await life.run(5);
  assert.deepEqual(life.prunes(), ['nightly-202603010010-prune', 'nightly-202603010020-prune']);
});

test('an EtcdBackup of another under the name of a due time is named, and the next one begins', async () => {
  const life = createLife();
  life.kube.seed<EtcdBackup>(resources.backups, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace: 'default', name: 'nightly-202603010010', uid: 'foreign' },
    spec: template,
  });
  await life.run(11, () => undefined);
  assert.match(
    ready(life),
    /^False StartRefused: EtcdBackup nightly-202603010010 belongs to something else: delete it/,
  );
  assert.equal(life.schedule().status?.lastAt, undefined);
  await life.run(10);
  assert.deepEqual(life.backups(), ['nightly-202603010010', 'nightly-202603010020']);
  assert.match(ready(life), /^True Scheduled: /);
});
