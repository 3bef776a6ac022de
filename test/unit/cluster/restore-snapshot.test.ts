import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { userLeaves } from '../../../manifests/render/certificate-names.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { restoreJob } from '../../../manifests/render/restore-job.ts';
import { sourceOf, wishOf } from '../../../manifests/render/snapshot-id.ts';
import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { beginFromSnapshot } from '../../../reconcile/cluster/decide/rules/birth/begin-from-snapshot.ts';
import { nothingOf, planChange } from '../../../reconcile/cluster/foresee/change.ts';
import type { Observation, RecoveryPodView, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { toldFailure } from '../../../reconcile/jobs/failure.ts';
import { peer } from '../manifests/api-documents.ts';
import { leafView, managed, missing, nothingYet } from './certificates.ts';
import { all, healthy, initialCluster, prepared, unborn, without, withRecord } from './observations.ts';

const snapshot = { object: 'gs://backups/orders/a.db' };
const spec: Partial<EtcdClusterSpec> = { bootstrap: { snapshot } };
const id = wishOf(snapshot);
const job = { name: 'orders-0-restore', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
const pod: RecoveryPodView = { name: 'orders-0-restore-x', uid: 'pod', leaving: false, ready: false };
const known = (view: Partial<Extract<RecoveryView, { kind: 'known' }>> = {}): RecoveryView => ({
  kind: 'known',
  pods: [],
  nodes: {},
  ...view,
});
const restoring = (attempt: number): Partial<VolumeRecord> => ({
  state: 'restoring',
  initialCluster: initialCluster(1),
  recovery: { id, attempt, lastSeenOn: {} },
});

/** The first member is recorded, and prepared. */
function seen(attempt: number, view: RecoveryView, more: Partial<EtcdClusterSpec> = spec): Observation {
  const sealed = { initialCluster: 'sealed=http://sealed.invalid:2380', initialClusterState: 'existing' };
  const observation = prepared(1, {
    spec: { replicas: 3, ...more },
    every: (slot) => ({
      ...withRecord(restoring(attempt))(slot),
      ...(slot.configMap && { configMap: { ...slot.configMap, ...sealed, immutable: true } }),
    }),
  });
  return { ...observation, recovery: view };
}

const failedWith = (failure: Partial<NonNullable<RecoveryPodView['failure']>>) =>
  known({
    job: { ...job, failed: true },
    pods: [{ ...pod, failure: { container: 'fetch', code: 3, words: 'it said so', ...failure } }],
  });
const says = (reason: string, code: number) => {
  const told = toldFailure(JSON.stringify({ ok: false, reason, message: `why ${reason}` }));
  assert.ok(told, reason);
  return failedWith({ code, told });
};

test('a volume that is being deleted is told, and not prepared again for its lost ConfigMap', () => {
  const observation = seen(1, known({ job }));
  const slots = observation.slots.map((slot) =>
    without('configMap')({ ...slot, ...(slot.volume && { volume: { ...slot.volume, leaving: true } }) }),
  );
  assert.equal(decide({ ...observation, slots }).reason, 'RecoveryVolumeLost');
});

test('a birth from a snapshot records one sealed member, whatever the size', () => {
  const decision = decide(unborn(3, { spec }));
  assert.ok(decision.kind === 'act' && decision.action.kind === 'prepare-members');
  const { members, starts } = decision.action;
  assert.deepEqual(starts?.restores, { id, source: sourceOf(snapshot) }, 'the Job is made in the same step');
  assert.deepEqual(
    members.map(({ name }) => name),
    ['orders-0'],
  );
  const recovery = { id, attempt: 0, lastSeenOn: {} };
  assert.partialDeepStrictEqual(members[0]?.record, { state: 'restoring', recovery, token: 'nonce0nonce0nonce0' });
  assert.equal(members[0]?.record.initialCluster.length, 1);
});

const steps: readonly (readonly [string, Observation, string])[] = [
  ['a Job is made when all is prepared', seen(0, known()), 'RestoringSnapshot'],
  ['a Job that runs is waited for', seen(1, known({ job, pods: [pod] })), 'AwaitingRestore'],
  ['a Job that cannot be read is told', seen(1, { kind: 'unknown', cause: 'forbidden' }), 'RecoveryNotPermitted'],
  [
    'a Job that is done is concluded',
    seen(1, known({ job: { ...job, failed: true, completed: true } })),
    'ConcludingRestore',
  ],
  [
    'a Job whose pod has succeeded is concluded',
    seen(1, known({ job, pods: [{ ...pod, job: 'job', succeeded: true }] })),
    'ConcludingRestore',
  ],
  [
    'a Job beside the pod of another that has succeeded is waited for',
    seen(1, known({ job, pods: [{ ...pod, job: 'another', succeeded: true }] })),
    'AwaitingRestore',
  ],
  ['a Job of another attempt is replaced', seen(2, known({ job, pods: [pod] })), 'RepeatingRestore'],
  ['a pod of an earlier attempt is awaited', seen(1, known({ pods: [pod] })), 'RecoveryPodLeaving'],
  [
    'a pod that ended without a word is repeated',
    seen(1, known({ job: { ...job, failed: true } })),
    'RepeatingRestore',
  ],
  ['a pod that was killed is repeated', seen(1, failedWith({ code: 137 })), 'RepeatingRestore'],
  [
    'etcdutl without memory is told',
    seen(1, failedWith({ container: 'restore', code: 137, reason: 'OOMKilled' })),
    'RestoreFailed',
  ],
  [
    'an agent that was killed for memory is told: its limit is that of the members',
    seen(1, failedWith({ code: 137, reason: 'OOMKilled' })),
    'RestoreFailed',
  ],
  [
    'a pod that waits for a Secret that is not there is told',
    seen(
      1,
      known({ job: { ...job, notStarted: { reason: 'FailedMount', message: 'secret "key" not found' } }, pods: [pod] }),
    ),
    'RestorePodStuck',
  ],
  ['a store that is away is tried again', seen(1, says('Unreachable', 1)), 'RepeatingRestore'],
  ['a store that forbids is told', seen(1, says('Forbidden', 3)), 'RestoreFailed'],
  ['a snapshot that was cut off is told', seen(1, says('BadTrailer', 4)), 'SnapshotDefective'],
  ['a snapshot of another minor is told', seen(1, says('NewerVersion', 3)), 'SnapshotTooNew'],
  ['data that are there are told', seen(1, says('DataPresent', 3)), 'RestoreFailed'],
  ['a pod that came late is repeated', seen(1, says('Superseded', 2)), 'RepeatingRestore'],
  ['what etcdutl refuses is told', seen(1, failedWith({ container: 'restore', code: 1 })), 'SnapshotDefective'],
  [
    'a pod that does not start is told',
    seen(1, known({ job, pods: [{ ...pod, waiting: 'ImagePullBackOff' }] })),
    'RestorePodStuck',
  ],
  [
    'another snapshot replaces the Job',
    seen(1, known({ job }), { bootstrap: { snapshot: { object: 's3://b/x.db' } } }),
    'RepeatingRestore',
  ],
  ['a snapshot that is no longer named is told', seen(1, known({ job }), {}), 'SnapshotRemoved'],
];

describe('while a snapshot is restored', () => {
  for (const [what, observation, reason] of steps)
    test(what, () => {
      const decision = decide(observation);
      assert.equal(decision.reason, reason, JSON.stringify(decision));
      if (decision.kind === 'refuse') assert.ok(decision.cure.length > 10);
    });

  test('a Job that runs is waited for by a watch of Jobs, which end after their pods', () => {
    const decision = decide(seen(1, known({ job, pods: [pod] })));
    assert.ok(decision.kind === 'wait' && decision.wakeOn.some((wake) => wake.on === 'change' && wake.of === 'jobs'));
  });

  test('the step that concludes a restore starts its member, where that is prepared', () => {
    const done = known({ job: { ...job, failed: true, completed: true } });
    const starts = (observation: Observation) => {
      const decision = decide(observation);
      assert.ok(decision.kind === 'act' && decision.action.kind === 'conclude-restore', JSON.stringify(decision));
      return decision.action.starts === true;
    };
    assert.ok(starts(seen(1, done)));
    const unread = seen(1, done);
    assert.ok(!starts({ ...unread, certificates: { kind: 'unknown', cause: 'forbidden' } }));
  });

  test('where the step ended before it started the member, the next one starts it', () => {
    const observation = seen(1, known());
    const slots = observation.slots.map(withRecord({ state: 'restored', restoredFrom: sourceOf(snapshot) }));
    assert.equal(decide({ ...observation, slots }).reason, 'StartingMembers');
  });

  test('no member starts in that step that lacks its certificates, where these are passed over', () => {
    const situation = situate(seen(1, known({ job: { ...job, failed: true, completed: true } })));
    const started = [managed(1), nothingYet(1)].map((certificates) => {
      const decision = beginFromSnapshot({ ...situation, certificates });
      return decision?.kind === 'act' && decision.action.kind === 'conclude-restore' && decision.action.starts;
    });
    assert.deepEqual(started, [true, undefined]);
  });

  test('a member starts in that step while the certificate of a user is not there', () => {
    const situation = situate(seen(1, known({ job: { ...job, failed: true, completed: true } })));
    const all = managed(1);
    const leaves = [...all.leaves, ...userLeaves('orders', ['reader']).map((plan) => missing(leafView(plan)))];
    const decision = beginFromSnapshot({ ...situation, certificates: { ...all, leaves } });
    assert.ok(decision?.kind === 'act' && decision.action.kind === 'conclude-restore');
    assert.equal(decision.action.starts, true);
  });

  test('a failure that may pass is repeated after a pause, ten times at most', () => {
    const failed = says('Unreachable', 1);
    assert.ok(failed.kind === 'known');
    const at = (attempt: number, seconds: number) => {
      const endedAt = new Date(Date.parse('2026-01-02T03:04:05Z') - seconds * 1000);
      const view = known({ ...failed, job: { ...job, attempt: `${id}/${attempt}`, failed: true, endedAt } });
      return decide(seen(attempt, view)).reason;
    };
    assert.equal(at(1, 4), 'AwaitingRestore');
    assert.equal(at(1, 5), 'RepeatingRestore');
    assert.equal(at(9, 299), 'AwaitingRestore');
    assert.equal(at(9, 300), 'RepeatingRestore');
    assert.equal(at(10, 9000), 'RestoreFailed');
  });

  test('what killed the last attempt is named, and so is what its pod waits for', () => {
    const killed = failedWith({ code: 137, reason: 'Error' });
    assert.ok(killed.kind === 'known');
    const last = decide(seen(10, { ...killed, job: { ...job, attempt: `${id}/10`, failed: true } }));
    assert.match(last.message, /10 attempts; the last one: container fetch ended with Error/);
    const notStarted = { reason: 'FailedMount', message: 'secret "key" not found' };
    const stuck = decide(seen(1, known({ job: { ...job, notStarted }, pods: [pod] })));
    assert.ok(stuck.kind === 'refuse');
    assert.match(
      `${stuck.message} ${stuck.cure}`,
      /FailedMount: secret "key" not found make the Secret, .*describe job/,
    );
  });

  test('a member that runs while its volume is to be restored is told, and left alone', () => {
    const observation = seen(0, known());
    const [slot] = observation.slots;
    assert.ok(slot?.peer);
    const statefulSet = {
      uid: 'set',
      leaving: false,
      current: true,
      inputsHash: inputsHash(slot.peer.inputs),
      updateRevision: 'a',
    };
    assert.equal(decide({ ...observation, slots: [{ ...slot, statefulSet }] }).reason, 'RecoveryVolumeLost');
  });
});

describe('volumes that an earlier cluster left', () => {
  const bare = without('peer', 'configMap', 'statefulSet', 'pod');
  const retained = (record: Partial<VolumeRecord> = {}): Observation => {
    const observation = healthy(3, {
      spec,
      every: all(bare, withRecord(record)),
      membership: { kind: 'unknown', cause: 'none' },
    });
    // As the first look at them leaves it: by then the volumes have told their cluster's ID.
    const status = { observedGeneration: 1, clusterID: 'c1c1' };
    return { ...observation, cluster: { ...observation.cluster, status } };
  };

  test('are never restored over: their cluster is named, and what helps', () => {
    const decision = decide(retained());
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'RestoreOverData' });
    assert.match(JSON.stringify(decision), /etcd cluster [0-9a-f]+/);
    assert.match(JSON.stringify(decision), /remove spec\.bootstrap\.snapshot/);
  });

  test('are adopted where they were born from this very snapshot', () => {
    assert.equal(decide(retained({ restoredFrom: sourceOf(snapshot) })).reason, 'AdoptingVolumes');
  });

  test('of another snapshot are told as well', () => {
    assert.equal(decide(retained({ restoredFrom: '0123456789ab' })).reason, 'RestoreOverData');
  });

  test('do not matter to a cluster that lives: it ignores the wish', () => {
    assert.equal(decide(healthy(3, { spec })).reason, 'Converged');
  });
});

test('a plan restores one member and adds the others', () => {
  const cluster = withDefaults({
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'shop' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, bootstrap: { snapshot } },
  });
  const observation = nothingOf(cluster, { at: new Date('2026-01-01T00:00:00Z'), nonce: 'nonce0nonce0nonce0' });
  const made = planChange(observation, cluster);
  assert.equal(made.end.kind, 'done', JSON.stringify(made.end));
  assert.deepEqual(
    made.steps.map(({ reason }) => reason),
    [
      ...['PreparingMembers', 'ConcludingRestore', 'RestoredSnapshot'],
      ...['PreparingMember', 'SealingMembers', 'PreparingMember', 'SealingMembers'],
    ],
  );
  assert.ok(made.steps.some(({ message }) => message.endsWith('restoring it from gs://backups/orders/a.db')));
});

test('of a termination message only a failure that the agent knows is believed', () => {
  const text = (value: unknown) => toldFailure(typeof value === 'string' ? value : JSON.stringify(value));
  assert.equal(text('panic: no JSON'), undefined);
  assert.equal(text({ ok: true, reason: 'Forbidden', message: 'x' }), undefined);
  assert.equal(text({ ok: false, reason: 'toString', message: 'x' }), undefined);
  assert.equal(text({ ok: false, reason: 'Forbidden', message: 7 }), undefined);
  assert.equal(text(['Forbidden']), undefined);
  assert.deepEqual(text({ ok: false, reason: 'Forbidden', message: 'a\u202eb\u0000\nc' }), {
    reason: 'Forbidden',
    message: 'a b c',
  });
  assert.equal(text({ ok: false, reason: 'Forbidden', message: 'x'.repeat(9000) })?.message.length, 1000);
});

test('the Job asks for the object with the sha256 and the revision that the spec names', () => {
  const expected = { sha256: 'ab'.repeat(32), revision: 81_724 };
  const order = { image: 'ours', id, attempt: 1, token: 'token', bump: 1000 };
  const asked = (given: typeof snapshot) => {
    const { spec } = restoreJob(
      { ...peer, metadata: { ...peer.metadata, uid: 'peer-1' } },
      { ...order, snapshot: given },
    ).spec.template;
    const json = spec.initContainers?.[0]?.env?.find(({ name }) => name === 'RATCHET_BACKUP_REQUEST')?.value;
    return JSON.parse(json ?? '{}') as Record<string, unknown>;
  };
  assert.partialDeepStrictEqual(asked({ ...snapshot, ...expected }), expected);
  assert.deepEqual(
    Object.keys(asked(snapshot)).filter((field) => Object.hasOwn(expected, field)),
    [],
  );
  assert.notEqual(wishOf({ ...snapshot, ...expected }), id, 'with a corrected sha256 it is tried again');
  assert.equal(sourceOf({ ...snapshot, ...expected }), sourceOf(snapshot), 'the data are the same');
});
