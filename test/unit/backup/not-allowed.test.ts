import assert from 'node:assert/strict';
import { test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { decideBackup } from '../../../reconcile/backup/decide.ts';
import { stepBackups } from '../../../reconcile/backup/pass.ts';
import { attemptOf } from '../../../reconcile/backup/situation.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { offerNamed } from '../../support/fakes/offered.ts';
import { contextFor, fresh } from './run-jobs.ts';
import { at, backupWith, record, serving, object as stored } from './scene.ts';

/** Buckets that the admin of the installation has not listed, and the image of a drill. */

async function stepped(object: string, buckets: string) {
  const kube = createFakeKube();
  const to = { object, s3: { credentialsSecretName: 'key' } };
  kube.seed(resources.backups, fresh({ to }));
  offerNamed(kube, 'default', to);
  const egress = egressFrom({ RATCHET_BUCKETS: buckets });
  await stepBackups(kube.stored<EtcdBackup>(resources.backups), { ...contextFor(kube), egress });
  const ready = kube.stored<EtcdBackup>(resources.backups)[0]?.status?.conditions?.[0];
  return { ready, jobs: kube.stored<Job>(resources.jobs).length };
}

for (const [object, buckets] of [
  ['s3://theirs/{{timestamp}}.db', 's3://backups'],
  ['s3://backups-2/{{timestamp}}.db', 's3://backups'],
  ['s3://backups/team-b/{{timestamp}}.db', 's3://backups/{namespace}'],
  ['s3://backups/defaults/{{timestamp}}.db', 's3://backups/{namespace}'],
  ['s3://backups/{{timestamp}}.db', 'gs://backups'],
] as const)
  test(`no Job writes to ${object} where ${buckets} is listed, and its author is told why`, async () => {
    const { ready, jobs } = await stepped(object, buckets);
    assert.deepEqual([ready?.reason, jobs], ['HostRefused', 0]);
    assert.match(ready?.message ?? '', /is not in RATCHET_BUCKETS of this installation/);
  });

test('a bucket that is listed, and each namespace its part of one, is written to', async () => {
  assert.equal((await stepped('s3://backups/{{timestamp}}.db', 's3://backups')).jobs, 1);
  assert.equal((await stepped('s3://backups/{{namespace}}/{{timestamp}}.db', 's3://backups/{namespace}')).jobs, 1);
});

test('a drill runs no image of a cluster whose author names one that is not listed', () => {
  const attempt = { number: 1, stage: 'Take', job: 'j', object: stored, startedAt: '2026-11-22T22:59:10Z' } as const;
  const cluster = { ...serving, spec: { ...serving.spec, image: { repository: 'evil.example/etcd' } } };
  const state = { kind: 'said', said: { kind: 'record', record } } as const;
  const job = {
    name: 'j',
    uid: 'job-1',
    ours: true,
    leaving: false,
    object: stored,
    startedAt: attempt.startedAt,
    state,
  };
  const backup = backupWith({ attempt });
  const decided = (images: string) =>
    decideBackup({
      backup,
      cluster,
      attempt: attemptOf(backup),
      job,
      at,
      egress: egressFrom({ RATCHET_IMAGES: images }),
    });
  assert.partialDeepStrictEqual(decided('evil.example'), { kind: 'verify' });
  const refused = decided('quay.io/coreos/etcd');
  assert.match(JSON.stringify(refused), /ImageRefused.*evil\.example\/etcd:v3\.6\.16 is not in RATCHET_IMAGES/);
});
