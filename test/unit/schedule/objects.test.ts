import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { takeJob } from '../../../manifests/render/backup-jobs.ts';
import { dueBackup, pruneJob } from '../../../manifests/render/schedule-objects.ts';
import { parseRequest } from '../../../reconcile/backup/agent/request.ts';
import { fullSchedule, schedule } from '../manifests/api-documents.ts';

const at = new Date('2026-11-23T02:30:00Z');

function withUid(one: EtcdBackupSchedule): EtcdBackupSchedule {
  return { ...one, metadata: { ...one.metadata, uid: 'schedule-uid' } };
}

function requestOf({ spec }: Job) {
  const [container] = spec.template.spec.containers;
  return parseRequest(container?.env?.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST')?.value ?? '');
}

test('the agent takes what the Job of a retention asks, wherever the backups are', () => {
  for (const [one, expected] of [
    [schedule, { prefix: 'pvc://backups/default/orders/', keep: { last: 3 } }],
    [
      fullSchedule,
      { prefix: 's3://backups.example/default/elsewhere/', dryRun: true, timeZone: 'America/Argentina/Buenos_Aires' },
    ],
  ] as const) {
    const asked = withUid({ ...one, spec: { retention: { last: 3 }, ...one.spec } });
    const job = pruneJob(asked, { after: dueBackup(asked, at), spare: [] }, { image: 'image' });
    assert.partialDeepStrictEqual(requestOf(job), { operation: 'prune', schedule: 'schedule-uid', ...expected });
    const text = JSON.stringify(job);
    assert.doesNotMatch(text, /age-|identity/, 'nothing is decrypted');
    assert.ok(
      job.metadata.name.length <= 63 &&
        job.spec.template.spec.containers[0]?.volumeMounts?.every(
          ({ readOnly, name }) => name !== 'backups' || !readOnly,
        ),
    );
  }
});

test('names of the longest schedule fit their kinds', () => {
  const long = withUid({ ...schedule, metadata: { namespace: 'default', name: 'x'.repeat(39) } });
  const backup = dueBackup(long, at);
  assert.ok(backup.metadata.name.length <= 52);
  assert.ok(pruneJob(long, { after: backup, spare: [] }, { image: 'image' }).metadata.name.length <= 63);
});

test("a scheduled backup's record bears the schedule that controls it, whatever its labels say", () => {
  const order = { image: 'i', attempt: 1, endpoints: ['https://10.0.0.1:2379'] };
  const location = { scheme: 'pvc', bucket: 'backups', path: 'a.db' } as const;
  const made = dueBackup(withUid(schedule), at);
  const backup = { ...made, metadata: { ...made.metadata, uid: 'uid' } };
  assert.partialDeepStrictEqual(requestOf(takeJob(backup, { ...order, location })), { schedule: 'schedule-uid' });
  const alone = { ...backup, metadata: { ...backup.metadata, ownerReferences: [] } };
  assert.ok(!('schedule' in requestOf(takeJob(alone, { ...order, location }))));
});
