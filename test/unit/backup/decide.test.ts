import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { verifyJob } from '../../../manifests/render/backup-jobs.ts';
import { parseRequest } from '../../../reconcile/backup/agent/request.ts';
import { decideBackup } from '../../../reconcile/backup/decide.ts';
import { backupStatusFor, sizeOf } from '../../../reconcile/backup/report.ts';
import { attemptOf, type BackupSituation, type JobState, type JobView } from '../../../reconcile/backup/situation.ts';
import { failures } from '../../../reconcile/jobs/failure.ts';
import { at, backupWith, object, proof, record, serving, uid } from './scene.ts';

const attempt = { number: 1, stage: 'Take', job: 'j', object, startedAt: '2026-11-22T22:59:10Z' } as const;
const stored = { object, etcdVersion: '3.6.16', snapshotBytes: 20_512, revision: 41 };

function situation(backup: EtcdBackup, more: Partial<BackupSituation> = {}): BackupSituation {
  return { backup, cluster: serving, attempt: attemptOf(backup), job: undefined, at, ...more };
}

function job(state: JobState, more: Partial<JobView> = {}): JobView {
  return { name: 'j', uid: 'job-1', ours: true, leaving: false, object, startedAt: attempt.startedAt, state, ...more };
}

const failing = (reason: keyof typeof failures) =>
  job({ kind: 'said', said: { kind: 'failure', reason, message: 'because' } });

test('a new backup is taken from the voters, with the certificate for backups', () => {
  const decision = decideBackup(situation(backupWith(), { hasCertificate: true }));
  assert.partialDeepStrictEqual(decision, {
    kind: 'take',
    order: {
      attempt: 1,
      location: { scheme: 'pvc', bucket: 'backups', path: 'default/orders/20261122T230000Z.db' },
      endpoints: [
        'https://orders-0-0.orders-peers.default.svc:2379',
        'https://orders-1-0.orders-peers.default.svc:2379',
      ],
      clusterId: 'cafe',
      tlsSecretName: 'orders-backup-tls',
    },
  });
});

test('without the certificate for backups that of applications is shown', () => {
  const order = { tlsSecretName: 'orders-client-tls' };
  assert.partialDeepStrictEqual(decideBackup(situation(backupWith(), { hasCertificate: false })), {
    kind: 'take',
    order,
  });
});

test('a cluster in plaintext needs no certificate, one of a person is shown by its own name', () => {
  const names = (
    [
      { mode: 'Disabled' },
      { mode: 'Provided', provided: { peerSecretName: 'a', serverSecretName: 'b', clientSecretName: 'mine' } },
    ] as const
  ).map((tls) => {
    const decision = decideBackup(situation(backupWith(), { cluster: { ...serving, spec: { ...serving.spec, tls } } }));
    return decision.kind === 'take' ? [decision.order.tlsSecretName, decision.order.endpoints[0]?.slice(0, 8)] : [];
  });
  assert.deepEqual(names, [
    [undefined, 'http://o'],
    ['mine', 'https://'],
  ]);
});

test('without a cluster that serves, a backup waits and says for what', () => {
  assert.partialDeepStrictEqual(decideBackup(situation(backupWith(), { cluster: undefined })), {
    kind: 'wait',
    reason: 'ClusterAbsent',
  });
  const { conditions: _, ...rest } = serving.status ?? { observedGeneration: 1 };
  const silent = { ...serving, status: rest };
  assert.partialDeepStrictEqual(decideBackup(situation(backupWith(), { cluster: silent })), {
    kind: 'wait',
    reason: 'ClusterNotAvailable',
  });
});

test('another etcd is taken from its own addresses', () => {
  const { clusterName: _, ...spec } = backupWith().spec;
  const source = { endpoints: ['https://10.0.0.1:2379'], tlsSecretName: 'etcd-client' };
  const elsewhere = { ...backupWith(), spec: { ...spec, source, to: { object: 'gs://bucket/{{uid}}.db' } } };
  assert.partialDeepStrictEqual(decideBackup(situation(elsewhere, { cluster: undefined })), {
    kind: 'take',
    order: { ...source, location: { path: `${uid}.db` } },
  });
});

test('what was stored is restored by the version that took it, unless its trailer is enough', () => {
  const done = job({ kind: 'said', said: { kind: 'record', record } });
  const decision = decideBackup(situation(backupWith({ attempt }), { job: done }));
  assert.partialDeepStrictEqual(decision, {
    kind: 'verify',
    order: { attempt: 1, etcdImage: 'quay.io/coreos/etcd:v3.6.16', snapshotBytes: 20_512 },
    facts: { record },
  });
  assert.partialDeepStrictEqual(
    decideBackup(situation(backupWith({ attempt }, { verify: 'Trailer' }), { job: done })),
    { kind: 'done', reason: 'Taken' },
  );
});

const looking = (status: Parameters<typeof backupWith>[0] = {}, verify: 'Trailer' | 'Restore' = 'Trailer') =>
  backupWith(status, { to: { object }, existing: { sha256: record.sha256 }, verify });
/** Of the EtcdBackup that took it. */
const foundSaid = (more: object = {}) =>
  job({ kind: 'said', said: { kind: 'record', record: { ...record, id: 'earlier', ...more } } });

test('a look for an earlier backup needs no cluster that serves, and asks for the very object', () => {
  const decision = decideBackup(situation(looking(), { cluster: undefined }));
  assert.partialDeepStrictEqual(decision, {
    kind: 'take',
    message: `attempt 1 reads ${object}`,
    order: { attempt: 1, location: { scheme: 'pvc', path: 'default/orders/20261122T230000Z.db' }, endpoints: [] },
  });
  const begun = backupStatusFor(situation(looking()), decision as never, { kind: 'acted', object });
  assert.deepEqual(conditionsOf(begun), ['Ready=False Looking', 'Reconciling=True Looking']);
  const waits = decideBackup(situation(looking({ attempt }), { job: job({ kind: 'under-way' }) }));
  assert.partialDeepStrictEqual(waits, { kind: 'wait', reason: 'Looking', message: 'Job j reads what is stored' });
});

test('what a look finds is believed of that object alone, and of no other digest', () => {
  const found = decideBackup(situation(looking({ attempt }), { job: foundSaid() }));
  assert.partialDeepStrictEqual(found, { kind: 'done', reason: 'Found' });
  const status = backupStatusFor(situation(looking({ attempt }), { job: foundSaid() }), found as never, {
    kind: 'none',
  });
  assert.partialDeepStrictEqual(status, { object, sha256: record.sha256, clusterID: 'cafe', settled: true });
  for (const other of [{ sha256: 'b'.repeat(64) }, { object: `${object}2` }])
    assert.partialDeepStrictEqual(decideBackup(situation(looking({ attempt }), { job: foundSaid(other) })), {
      kind: 'retry',
      reason: 'AgentBroke',
    });
  // Its own ID does not make it another's object.
  const own = { id: uid, sha256: 'b'.repeat(64) };
  assert.notEqual(decideBackup(situation(looking({ attempt }), { job: foundSaid(own) })).kind, 'done');
});

test('what a look finds is restored where that is asked for; what it does not find is a person’s', () => {
  const proving = decideBackup(situation(looking({ attempt }, 'Restore'), { job: foundSaid() }));
  assert.partialDeepStrictEqual(proving, { kind: 'verify', order: { sha256: record.sha256 } });
  assert.partialDeepStrictEqual(decideBackup(situation(looking({ attempt }), { job: failing('NotFound') })), {
    kind: 'fail',
    reason: 'NotFound',
  });
  assert.equal(decideBackup(situation(looking({ attempt }), { job: failing('Unreachable') })).kind, 'retry');
});

test('a digest pins the image only where it is that of the same version', () => {
  const done = job({ kind: 'said', said: { kind: 'record', record } });
  const digest = `sha256:${'0'.repeat(64)}`;
  const images = ['3.6.16', '3.6.17'].map((version) => {
    const image = { repository: 'mirror.example.com/etcd', digest, pullSecrets: [{ name: 'pull' }] };
    const cluster = { ...serving, spec: { ...serving.spec, version, image } };
    const decision = decideBackup(situation(backupWith({ attempt }), { job: done, cluster }));
    return decision.kind === 'verify' ? [decision.order.etcdImage, decision.order.pods?.spec?.imagePullSecrets] : [];
  });
  assert.deepEqual(images, [
    [`mirror.example.com/etcd:v3.6.16@${digest}`, [{ name: 'pull' }]],
    ['mirror.example.com/etcd:v3.6.16', [{ name: 'pull' }]],
  ]);
});

test('the record of another backup, or of another object, is not believed', () => {
  for (const other of [
    { ...record, id: 'other' },
    { ...record, object: 'pvc://backups/other.db' },
  ]) {
    const said = job({ kind: 'said', said: { kind: 'record', record: other } });
    assert.partialDeepStrictEqual(decideBackup(situation(backupWith({ attempt }), { job: said })), {
      kind: 'retry',
      reason: 'AgentBroke',
    });
  }
  const early = job({ kind: 'said', said: { kind: 'proof', proof } });
  assert.equal(decideBackup(situation(backupWith({ attempt }), { job: early })).kind, 'retry');
});

test('what is verified is the very object that status recorded', () => {
  const said = job({ kind: 'said', said: { kind: 'record', record } });
  const failed = { reason: 'Unreachable', message: 'm', at: '2026-11-22T22:59:50Z', retryAt: '2026-11-22T22:59:55Z' };
  const again = backupWith({
    ...stored,
    sha256: 'f'.repeat(64),
    attempt: { ...attempt, stage: 'Verify' },
    lastFailure: failed,
  });
  for (const [one, sha256] of [
    [situation(backupWith({ attempt }), { job: said }), record.sha256],
    [situation(again), 'f'.repeat(64)],
  ] as const) {
    const decision = decideBackup(one);
    assert.partialDeepStrictEqual(decision, { kind: 'verify', order: { sha256 } });
    const { spec } = verifyJob(one.backup, {
      image: 'i',
      ...(decision.kind === 'verify' ? decision.order : assert.fail()),
    });
    const { initContainers = [], containers } = spec.template.spec;
    const asked = [...initContainers, ...containers].flatMap(({ env = [] }) =>
      env.flatMap(({ name, value = '' }) => (name === 'RATCHET_BACKUP_REQUEST' ? [parseRequest(value)] : [])),
    );
    assert.deepEqual(
      asked.map((request) => 'sha256' in request && request.sha256),
      [sha256, sha256],
    );
  }
});

test('a proof ends it well', () => {
  const verifying = backupWith({ ...stored, attempt: { ...attempt, stage: 'Verify' } });
  const decision = decideBackup(situation(verifying, { job: job({ kind: 'said', said: { kind: 'proof', proof } }) }));
  assert.partialDeepStrictEqual(decision, { kind: 'done', reason: 'Verified', facts: { proof } });
});

test('what may pass is tried again, ever later, and not for ever', () => {
  const waits = [1, 2, 3, 4, 5].map((number) => {
    const begun = backupWith({ attempt: { ...attempt, number } });
    const decision = decideBackup(situation(begun, { job: failing('Unreachable') }));
    return decision.kind === 'retry' ? (decision.retryAt.getTime() - at.getTime()) / 1000 : decision.kind;
  });
  assert.deepEqual(waits, [20, 60, 180, 540, 'fail']);
});

test('each failure of the agent has its course: again, or a person', () => {
  for (const [reason, kind] of Object.entries(failures)) {
    const decision = decideBackup(
      situation(backupWith({ attempt }), { job: failing(reason as keyof typeof failures) }),
    );
    // Under another name it does not exist.
    assert.equal(decision.kind, kind === 'retry' || reason === 'Exists' ? 'retry' : 'fail', reason);
    if (decision.kind === 'fail') assert.match(decision.cure, /another EtcdBackup/);
  }
});

test('a Job that vanished counts as an attempt that failed', () => {
  assert.partialDeepStrictEqual(decideBackup(situation(backupWith({ attempt }))), { kind: 'retry', reason: 'JobGone' });
});

test('the next attempt waits for its time, and then has a name of its own', () => {
  const failed = { reason: 'Unreachable', message: 'm', at: '2026-11-22T22:59:50Z', retryAt: '2026-11-22T23:00:10Z' };
  const backup = backupWith({ attempt, lastFailure: failed });
  assert.partialDeepStrictEqual(decideBackup(situation(backup)), {
    kind: 'wait',
    reason: 'Retrying',
    afterSeconds: 10,
  });
  const later = new Date('2026-11-22T23:00:11Z');
  assert.partialDeepStrictEqual(decideBackup(situation(backup, { at: later })), {
    kind: 'take',
    order: { attempt: 2, location: { path: 'default/orders/20261122T230011Z.db' } },
  });
});

test('etcd that never starts on it has its Job deleted, because that would go on', () => {
  const verifying = backupWith({ ...stored, attempt: { ...attempt, stage: 'Verify' } });
  const broken = job({ kind: 'broke', reason: 'EtcdNotStarted', words: 'panic' });
  assert.partialDeepStrictEqual(decideBackup(situation(verifying, { job: broken })), { kind: 'retry', job: broken });
});

test('a Job of another owner is left alone, and named', () => {
  const foreign = job({ kind: 'under-way' }, { ours: false });
  const decision = decideBackup(situation(backupWith(), { job: foreign }));
  assert.partialDeepStrictEqual(decision, { kind: 'wait', reason: 'JobNameTaken' });
});

test('what is awaited asks for a person after ten minutes, and goes on when it is there', () => {
  const later = new Date('2026-11-22T23:10:00Z');
  const old = job({ kind: 'under-way' }, { ours: false, leaving: true });
  for (const [more, reason] of [
    [{ cluster: undefined }, 'ClusterAbsent'],
    [{ cluster: { ...serving, status: { observedGeneration: 1 } } }, 'ClusterNotAvailable'],
    [{ job: old }, 'OldJobLeaving'],
  ] as const) {
    const conditions = (when: Date) => conditionsOf(told(situation(backupWith(), { ...more, at: when })));
    assert.deepEqual(conditions(at), [`Ready=False ${reason}`, `Reconciling=True ${reason}`]);
    assert.deepEqual(conditions(later), [`Ready=False ${reason}`, `Stalled=True ${reason}`]);
  }
  assert.equal(decideBackup(situation(backupWith(), { at: later })).kind, 'take');
  const quiet = job({ kind: 'under-way' });
  assert.deepEqual(
    conditionsOf(told(situation(backupWith(), { job: quiet, at: later }))).at(-1),
    'Reconciling=True Taking',
  );
});

test('an attempt that follows a failure waits ten minutes of its own', () => {
  const failed = { reason: 'Unreachable', message: 'm', at: '2026-11-22T22:59:50Z', retryAt: '2026-11-22T23:05:00Z' };
  const backup = backupWith({ attempt, lastFailure: failed });
  const conditions = (time: string) =>
    conditionsOf(told(situation(backup, { cluster: undefined, at: new Date(time) }))).at(-1);
  assert.equal(conditions('2026-11-22T23:14:00Z'), 'Reconciling=True ClusterAbsent');
  assert.equal(conditions('2026-11-22T23:16:00Z'), 'Stalled=True ClusterAbsent');
});

test('two backups of one second that render one name: the later one is tried again under another', () => {
  const timed = backupWith({ attempt });
  assert.partialDeepStrictEqual(decideBackup(situation(timed, { job: failing('Exists') })), { kind: 'retry' });
  const to = { ...timed.spec.to, object: 'pvc://backups/{{cluster}}/{{name}}.db' };
  const named = backupWith({ attempt }, { to });
  assert.partialDeepStrictEqual(decideBackup(situation(named, { job: failing('Exists') })), { kind: 'fail' });
});

test('a finished backup, and one that is being deleted, costs no thought', () => {
  const finished = backupWith({ finishedAt: '2026-11-22T22:00:00Z' });
  const leaving = {
    ...backupWith(),
    metadata: { ...backupWith().metadata, deletionTimestamp: '2026-11-22T22:00:00Z' },
  };
  for (const backup of [finished, leaving]) assert.deepEqual(decideBackup(situation(backup)), { kind: 'rest' });
});

function told(one: BackupSituation) {
  const decision = decideBackup(one);
  assert.ok(decision.kind !== 'rest');
  const acts = decision.kind === 'take' || decision.kind === 'verify';
  return backupStatusFor(one, decision, acts ? { kind: 'acted', object } : { kind: 'none' });
}

const conditionsOf = ({
  conditions = [],
}: {
  conditions?: readonly { type: string; status: string; reason: string }[];
}) => conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

test('the pod that looks for what was stored before says nothing of its age', () => {
  const looks = situation(looking({ attempt }), { job: { ...foundSaid(), podCreatedAt: '2026-11-22T22:59:20Z' } });
  assert.equal(decideBackup(looks).kind, 'done');
  assert.equal(told(looks).podCreatedAt, undefined);
});

test('status tells each stage, and everything that was recorded', () => {
  const begun = told(situation(backupWith()));
  assert.deepEqual(conditionsOf(begun), ['Ready=False Taking', 'Reconciling=True Taking']);
  assert.partialDeepStrictEqual(begun.attempt, {
    number: 1,
    stage: 'Take',
    job: 'orders-before-upgrade-take-1',
    object,
  });

  const done = { ...job({ kind: 'said', said: { kind: 'record', record } }), podCreatedAt: '2026-11-22T22:59:20Z' };
  const taken = told(situation({ ...backupWith(), status: begun }, { job: done }));
  assert.partialDeepStrictEqual(taken, {
    object,
    bytes: 20_512,
    size: '20Ki',
    revision: 41,
    clusterID: 'cafe',
    takenAt: '2026-11-22T22:59:30Z',
    podCreatedAt: '2026-11-22T22:59:20Z',
    took: '1.2s',
    attempt: { stage: 'Verify', number: 1 },
  });
  const proven = job({ kind: 'said', said: { kind: 'proof', proof } });
  const verified = told(situation({ ...backupWith(), status: taken }, { job: proven }));
  assert.deepEqual(conditionsOf(verified), ['Ready=True Verified']);
  assert.partialDeepStrictEqual(verified, {
    finishedAt: '2026-11-22T23:00:00Z',
    verified: { at: '2026-11-22T23:00:00Z', revision: 45, took: '2.3s' },
  });
});

test('a Job that another invocation made, and did not tell of, is told of with its own object', () => {
  const status = told(
    situation(backupWith(), { job: job({ kind: 'under-way' }, { object: 'pvc://backups/theirs.db' }) }),
  );
  assert.partialDeepStrictEqual(status.attempt, { number: 1, object: 'pvc://backups/theirs.db' });
});

test('while an attempt is waited for, status stays as it is', () => {
  const failed = told(situation(backupWith({ attempt }), { job: failing('Unreachable') }));
  assert.match(failed.conditions?.[0]?.message ?? '', /^attempt 1 of 5 failed \(Unreachable\), the next one follows/);
  const waiting = told(situation({ ...backupWith(), status: failed }, { at: new Date(at.getTime() + 5_000) }));
  assert.deepEqual(waiting, failed);
  const next = told(situation({ ...backupWith(), status: failed }, { at: new Date(at.getTime() + 21_000) }));
  assert.equal(next.lastFailure?.retryAt, undefined);
  assert.equal(attemptOf({ ...backupWith(), status: next }).number, 2);
});

test('what needs a person says so, with the cure, and stays', () => {
  const status = told(situation(backupWith({ attempt }), { job: failing('Full') }));
  assert.deepEqual(conditionsOf(status), ['Ready=False Full', 'Stalled=True Full']);
  assert.match(
    status.conditions?.[0]?.message ?? '',
    /^because\. To go on: correct that, then create another EtcdBackup$/,
  );
  assert.deepEqual(decideBackup(situation({ ...backupWith(), status })), { kind: 'rest' });
});

test('sizes are said as people say them', () => {
  assert.deepEqual([0, 512, 2048, 20_512, 5.5 * 2 ** 20, 2 ** 31].map(sizeOf), [
    '0B',
    '512B',
    '2.0Ki',
    '20Ki',
    '5.5Mi',
    '2.0Gi',
  ]);
});

test('a cluster that accepts no writes is backed up all the same: it can be read', () => {
  for (const [reason, kind] of [
    ['NoSpace', 'take'],
    ['Corrupt', 'take'],
    ['NoQuorum', 'wait'],
  ] as const) {
    const [available] = serving.status?.conditions ?? [];
    const conditions = available ? [{ ...available, status: 'False' as const, reason }] : [];
    const cluster = { ...serving, status: { observedGeneration: 1, ...serving.status, conditions } };
    assert.equal(decideBackup(situation(backupWith(), { cluster })).kind, kind, reason);
  }
});
