import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { summaryOf } from '../../../reconcile/cluster/foresee/summary.ts';
import type { AwaitedBackupView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import type { Reason } from '../../../reconcile/reasons/reasons.ts';
import {
  all,
  baseSpec,
  type Differences,
  endpoint,
  healthy,
  silent,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withVolume,
} from './observations.ts';

const shut = [{ start: '0 2 1 6 *', duration: '1h' }];
const open = [{ start: '* * * * *', duration: '1h' }];
type Windows = NonNullable<NonNullable<EtcdClusterSpec['maintenance']>['windows']>;

function decidedIn(windows: Windows, differences: Differences = {}) {
  return decide(observedIn(windows, differences));
}

function observedIn(windows: Windows, { spec, ...differences }: Differences) {
  const every = differences.every ?? withPod({ version: baseSpec.version });
  return healthy(3, { ...differences, every, spec: { ...spec, maintenance: { windows } } });
}

const grown = (slot: Slot): Slot =>
  withEndpoint(endpoint(slot.ordinal, { dbSize: 2n ** 30n, dbSizeInUse: 1000n }))(slot);
const older = withInputs({ resources: { limits: { memory: '1Gi' } } });
const older2 = withInputs({ resources: { limits: { memory: '2Gi' } } });
const upgraded = all(withInputs({ version: '3.6.17' }), withPod({ version: '3.6.17' }));
const acted = { at: '2026-01-01T00:00:00Z', message: 'x', outcome: 'acted' } as const;
const stepped = (...steps: readonly (readonly [action: string, reason: Reason])[]) => ({
  observedGeneration: 3,
  history: steps.map(([action, reason]) => ({ ...acted, action, reason })),
});
const after = (...reasons: readonly Reason[]) => stepped(...reasons.map((reason) => ['x', reason] as const));
const rolled = ['change-template', 'RollingConfiguration'] as const;
const lost = all(without('volume', 'pod'), withEndpoint(silent));
const longAgo = {
  observedGeneration: 3,
  members: [
    { name: 'orders-1', id: 'a1', healthy: false, unhealthySince: '2026-01-02T02:00:00Z', role: 'Voter' as const },
  ],
};
const backup = { store: { persistentVolumeClaim: { claimName: 'backups' } } } as never;

describe('outside the windows of spec.maintenance', () => {
  for (const [what, differences, then, reason] of [
    ['no configuration is rolled', { every: older }, 'RollingConfiguration', 'OutsideWindows'],
    ['no version either', { spec: { version: '3.6.17' } }, 'UpgradingMember', 'OutsideWindows'],
    ['no member is removed', { spec: { replicas: 1 } }, 'RemovingMember', 'OutsideWindows'],
    ['none is defragmented that can wait', { every: grown }, 'Defragmenting', 'OutsideWindows'],
    [
      'a roll that was begun goes on',
      { slots: { 1: older }, status: after('RollingConfiguration') },
      'RollingConfiguration',
      'RollingConfiguration',
    ],
    [
      'and another commit with it',
      { slots: { 0: older, 1: older2, 2: older }, status: after('RollingConfiguration') },
      'RollingConfiguration',
      'RollingConfiguration',
    ],
    [
      'and a removal',
      { slots: { 1: older }, spec: { replicas: 1 }, status: after('RollingConfiguration') },
      'RemovingMember',
      'RemovingMember',
    ],
    [
      'a member that was cured begins no roll',
      { slots: { 0: older, 2: older }, status: after('RollingConfiguration', 'CuringConfiguration') },
      'RollingConfiguration',
      'OutsideWindows',
    ],
    [
      'nor does one that was replaced',
      { slots: { 0: older, 2: older }, status: after('RollingConfiguration', 'ReplacingMember') },
      'RollingConfiguration',
      'OutsideWindows',
    ],
    [
      'nor does one that got a larger quota in an outage',
      {
        spec: { etcd: { quotaBackendBytes: '512Mi', snapshotCount: 5000 } },
        slots: { 1: withInputs({ etcd: { quotaBackendBytes: '512Mi' } }) },
        status: stepped(rolled, ['change-template', 'NoSpace'], ['disarm-alarm', 'NoSpace']),
      },
      'RollingConfiguration',
      'OutsideWindows',
    ],
    [
      'nor does one that got a new CA because the old one is lost',
      { slots: { 0: older, 2: older }, status: stepped(rolled, ['change-template', 'ReloadingAuthorities']) },
      'RollingConfiguration',
      'OutsideWindows',
    ],
    [
      'nor an upgrade',
      { spec: { version: '3.6.17' }, slots: { 1: upgraded }, status: after('CuringConfiguration') },
      'UpgradingMember',
      'OutsideWindows',
    ],
    [
      'a roll that was begun goes on when space was freed meanwhile',
      { slots: { 1: older }, status: stepped(rolled, ['compact', 'NoSpace'], ['disarm-alarm', 'NoSpace']) },
      'RollingConfiguration',
      'RollingConfiguration',
    ],
    ['what is unknown waits', { slots: { 1: older } }, 'RollingConfiguration', 'OutsideWindows'],
    ['a cluster grows', { spec: { replicas: 5 } }, 'PreparingMember', 'PreparingMember'],
    ['one hibernates', { spec: { replicas: 0 } }, 'Hibernating', 'Hibernating'],
    ['volumes grow', { spec: { storage: { size: '2Gi' } } }, 'GrowingVolumes', 'GrowingVolumes'],
    ['who is lost is replaced', { slots: { 1: lost }, status: longAgo }, 'ReplacingMember', 'ReplacingMember'],
    [
      'who is about to be is, too',
      { slots: { 1: withVolume({ leaving: true }) } },
      'ReplacingMember',
      'ReplacingMember',
    ],
    ['who is well is at rest', {}, 'Converged', 'Converged'],
  ] as const satisfies readonly (readonly [string, Differences, string, string])[]) {
    test(what, () => {
      assert.deepEqual(
        [decidedIn(open, differences).reason, decidedIn(shut, differences).reason, decidedIn([], differences).reason],
        [then, reason, reason],
      );
    });
  }

  test('the status says when the next one opens, and the invocation asks to be called then', () => {
    const decision = decidedIn(shut, { every: older });
    assert.match(decision.message, /: the next opens at 2026-06-01T02:00:00Z$/);
    const [wake] = decision.kind === 'wait' ? decision.wakeOn : [];
    const { at } = observedIn(shut, {});
    const opensIn = (Date.parse('2026-06-01T02:00:00Z') - at.getTime()) / 1000;
    assert.deepEqual(wake, { on: 'time', afterSeconds: Math.ceil(opensIn) });
    assert.match(decidedIn([], { every: older }).message, /: none ever opens$/);
  });

  test('a window that can not be read is refused by name, and holds nothing but what can wait', () => {
    const wrong = [...open, { start: '0 0 31 2 *', duration: '1h' }];
    const decision = decidedIn(wrong, { every: older });
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'InvalidWindow']);
    assert.match(decision.message, /^spec\.maintenance\.windows\[1\]: schedule: /);
    assert.equal(decidedIn(wrong, { slots: { 1: lost }, status: longAgo }).reason, 'ReplacingMember');
    assert.equal(decidedIn(wrong).reason, 'Converged');
  });

  test('a plan says when its first step may begin, and goes on from there', () => {
    const observation = observedIn(shut, { spec: { etcd: { snapshotCount: 5000 } } });
    const made = plan(observation);
    assert.deepEqual(
      made.steps.map(({ notBefore }) => notBefore),
      ['2026-06-01T02:00:00Z', undefined, undefined],
    );
    assert.match(made.steps[0]?.message ?? '', /^not before 2026-06-01T02:00:00Z: giving orders-/);
    assert.equal(made.end.kind, 'done');
    assert.equal(summaryOf(observation, made), '3 steps: 3 restarts, not before 2026-06-01T02:00:00Z');
  });

  describe('a backup before an upgrade is its beginning', () => {
    const known = {
      before: 'upgrade',
      kind: 'known',
      name: 'orders-x',
      state: 'good',
      message: '',
      askedAt: new Date('2026-01-01T00:00:00Z'),
    } as const satisfies AwaitedBackupView;
    const missing = { before: 'upgrade', kind: 'missing', name: 'orders-x', wish: {} as never } as const;
    for (const [what, view, reason] of [
      ['none is asked for', missing, 'OutsideWindows'],
      ['one that was asked for is awaited', { ...known, state: 'under-way' }, 'BackingUp'],
      ['with one the upgrade goes on', known, 'UpgradingMember'],
      ['one that is too old counts for nothing', { ...known, tooOld: missing }, 'OutsideWindows'],
    ] as const satisfies readonly (readonly [string, AwaitedBackupView, string])[]) {
      test(what, () => {
        const seen = observedIn(shut, { spec: { version: '3.7.3', backup } });
        const at = new Date('2026-01-01T00:01:00Z');
        assert.equal(decide({ ...seen, awaitedBackup: view, at }).reason, reason);
      });
    }
  });
});
