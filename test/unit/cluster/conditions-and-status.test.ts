import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { act, type Decision, done, refuse, wait } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Outcome } from '../../../reconcile/cluster/know/outcome.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statementsFor } from '../../../reconcile/cluster/report/conditions.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { conditionsFrom } from '../../../reconcile/objects/conditions.ts';
import { all, crashing, endpoint, healthy, noQuorum, silent, starting, withEndpoint, withPod } from './observations.ts';

const none: Outcome = { kind: 'none' };
const acting = act({ kind: 'start-members', peers: ['orders-0'] }, 'StartingMembers', 'orders-0 starts');
const failed = (kind: 'retryable' | 'precondition' | 'terminal'): Outcome => ({
  kind: 'failed',
  failure: { class: kind, reason: 'Forbidden', message: 'it did not work' },
});

describe('conditions', () => {
  const facts = { allHealthy: true };
  for (const [what, decision, outcome, expected] of [
    ['a step that was carried out', acting, { kind: 'acted' }, ['Ready=False', 'Reconciling=True']],
    ['a step that may get through next time', acting, failed('retryable'), ['Ready=False', 'Reconciling=True']],
    ['a step that found the world moved', acting, failed('precondition'), ['Ready=False', 'Reconciling=True']],
    [
      'a step that was refused, and nothing else is left to do',
      refuse('Forbidden', 'it did not work', 'see to it'),
      failed('terminal'),
      ['Ready=False', 'Stalled=True'],
    ],
    ['a step that was refused, while others go on', acting, failed('terminal'), ['Ready=False', 'Reconciling=True']],
    [
      'waiting',
      wait('PodMissing', 'it is made', { on: 'time', afterSeconds: 1 }),
      none,
      ['Ready=False', 'Reconciling=True'],
    ],
    ['a refusal', refuse('NameTaken', 'it cannot be', 'do this'), none, ['Ready=False', 'Stalled=True']],
    ['convergence', done('Converged', 'all healthy'), none, ['Ready=True']],
    ['a healthy cluster that is suspended', done('Suspended', 'nothing is changed'), none, ['Ready=True']],
    ['deletion', done('BeingDeleted', 'it goes'), none, ['Ready=False', 'Reconciling=True']],
  ] as const satisfies readonly (readonly [string, Decision, Outcome, readonly string[]])[]) {
    test(`of ${what}: ${expected.join(', ')}`, () => {
      const statements = statementsFor(decision, outcome, facts);
      assert.deepEqual(
        statements.map(({ type, status }) => `${type}=${status}`),
        expected,
      );
    });
  }

  test('of a step that has failed for long: Stalled, with what answers there', () => {
    const [ready, stalled] = statementsFor(acting, failed('retryable'), { ...facts, failsForLong: true });
    assert.deepEqual([ready?.status, stalled?.type, stalled?.status], ['False', 'Stalled', 'True']);
    assert.match(stalled?.message ?? '', /^it did not work \(runbook: .*\)\. To go on: see to what answers there/);
  });

  test('of a suspended cluster that is not healthy: not Ready, and not Reconciling', () => {
    const statements = statementsFor(done('Paused', 'x'), none, { ...facts, allHealthy: false });
    assert.deepEqual(
      statements.map(({ type, status }) => `${type}=${status}`),
      ['Ready=False'],
    );
  });

  test('say what to do where a person is needed', () => {
    const [ready] = statementsFor(refuse('NameTaken', 'it cannot be', 'do this'), none, facts);
    assert.match(ready?.message ?? '', /^it cannot be \(runbook: https:\S+#a-name-is-taken\)\. To go on: do this$/);
  });

  const at = new Date('2026-01-02T03:04:05.678Z');
  const statement = { type: 'Ready', status: 'True', reason: 'Converged', message: 'fine' } as const;
  const [before] = conditionsFrom([{ ...statement, reason: 'NoQuorum' }], undefined, {
    generation: 1,
    at: new Date(0),
  });
  assert.ok(before);

  test('keep their time while their status stays, also when reason and generation move', () => {
    const [after] = conditionsFrom([statement], [before], { generation: 2, at });
    assert.deepEqual(after, { ...statement, observedGeneration: 2, lastTransitionTime: '1970-01-01T00:00:00Z' });
  });

  test('take the time of the observation, in whole seconds, when their status moves', () => {
    const [after] = conditionsFrom([{ ...statement, status: 'False' }], [before], { generation: 2, at });
    assert.equal(after?.lastTransitionTime, '2026-01-02T03:04:05Z');
  });
});

describe('status', () => {
  test('tells who leads, what runs, and how each member is', () => {
    const status = report(healthy(3, { slots: { 2: crashing } }));
    assert.partialDeepStrictEqual(status, {
      clusterID: 'c1c1',
      leader: 'orders-0',
      clusterVersion: '3.6.0',
      replicas: 3,
      readyReplicas: 2,
    });
    assert.deepEqual(
      status.members?.map(({ name, id, role, healthy }) => [name, id, role, healthy]),
      [
        ['orders-0', 'a0', 'Voter', true],
        ['orders-1', 'a1', 'Voter', true],
        ['orders-2', 'a2', 'Voter', false],
      ],
    );
  });

  test('remembers the cluster ID while no member answers', () => {
    const status = report(healthy(3, { membership: noQuorum('down'), every: withEndpoint(silent) }));
    assert.equal(status.clusterID, 'c1c1');
  });

  test('claims no cluster ID before there is one', () => {
    assert.equal(report(starting(3)).clusterID, undefined);
  });

  test('never says Available on the word of one member', () => {
    const status = report(healthy(3, { membership: noQuorum('down') }));
    assert.equal(status.conditions?.find(({ type }) => type === 'Available')?.status, 'False');
  });

  test('names everything that was refused, also while something else is in the foreground', () => {
    const status = report(healthy(3, { spec: { version: '3.5.35' }, slots: { 1: withPod({ ready: false }) } }));
    assert.equal(status.lastDecision?.reason, 'MemberStarting');
    assert.deepEqual(
      status.refusals?.map(({ reason, field }) => [reason, field]),
      [['DowngradeRefused', 'spec.version']],
    );
  });

  for (const [size, moved] of [
    [21000n, false],
    [30000n, true],
  ] as const) {
    test(`a database of 20480 bytes that has ${size} is ${moved ? '' : 'no '}news`, () => {
      const before = report(healthy(1));
      const after = report(healthy(1, { status: before, slots: { 0: withEndpoint(endpoint(0, { dbSize: size })) } }));
      assert.equal(after.members?.[0]?.dbBytes !== before.members?.[0]?.dbBytes, moved);
    });
  }

  test('keeps what it knew of a member that does not answer for now', () => {
    const before = report(healthy(3));
    const after = report(healthy(3, { status: before, slots: { 1: all(crashing, withEndpoint(silent)) } }));
    assert.equal(after.members?.[1]?.id, 'a1');
  });

  test('remembers steps in order, and one that fails again and again once', () => {
    const observation = healthy(3);
    const first = statusFor(situate(observation), acting, { kind: 'acted' });
    const second = statusFor(situate(healthy(3, { status: first })), acting, failed('terminal'));
    const third = statusFor(situate(healthy(3, { status: second })), acting, failed('terminal'));
    assert.deepEqual(
      third.history?.map(({ outcome, action, target }) => [outcome, action, target]),
      [
        ['acted', 'start-members', 'orders-0'],
        ['failed', 'start-members', 'orders-0'],
      ],
    );
  });
});

test('status says what the members run: one version, or the lowest and the highest', () => {
  const one = report(healthy(3));
  assert.equal(one.version, '3.6.16');
  const slots = {
    1: withEndpoint(endpoint(1, { version: '3.5.35' })),
    2: withEndpoint(endpoint(2, { version: '3.10.1' })),
  };
  assert.equal(report(healthy(3, { slots })).version, '3.5.35..3.10.1');
  assert.equal(report(healthy(3, { status: one, every: withEndpoint(silent) })).version, '3.6.16');
});

test('a request to reconcile is answered by the step that saw it, and the answer stays', () => {
  const asked = withRequest(healthy(3), '17:50');
  const first = report(asked);
  assert.equal(first.lastHandledReconcileAt, '17:50');
  assert.deepEqual(
    report(withRequest(healthy(3, { status: first }), '17:50')),
    first,
    'the same again is not written again',
  );
  assert.equal(report(healthy(3, { status: first })).lastHandledReconcileAt, '17:50');
  assert.equal(report(withRequest(healthy(3, { status: first }), 'now')).lastHandledReconcileAt, 'now');
});

function withRequest(observation: Observation, value: string): Observation {
  const { cluster } = observation;
  const annotations = { ...cluster.metadata.annotations, 'etcd.ratchet.dev/reconcile': value };
  return { ...observation, cluster: { ...cluster, metadata: { ...cluster.metadata, annotations } } };
}

function report(observation: Observation) {
  return statusFor(situate(observation), decide(observation), none);
}
