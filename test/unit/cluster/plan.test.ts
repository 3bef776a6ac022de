import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { nothingOf, planChange, withDesired } from '../../../reconcile/cluster/foresee/change.ts';
import { type Plan, plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { carriedOut } from '../../../reconcile/cluster/foresee/run.ts';
import { settle } from '../../../reconcile/cluster/foresee/settle.ts';
import { simulate } from '../../../reconcile/cluster/foresee/simulate.ts';
import { changesOf, summaryOf } from '../../../reconcile/cluster/foresee/summary.ts';
import { planMarkdown, planText } from '../../../reconcile/cluster/foresee/table.ts';
import { act } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { observations } from './arbitrary.ts';
import { managed, missing } from './certificates.ts';
import {
  all,
  baseSpec,
  crashing,
  endpoint,
  healthy,
  memberId,
  silent,
  withContainer,
  withEndpoint,
  without,
  withPod,
} from './observations.ts';

/** As observing has it: a pod says which etcd it is. */
const running = withPod({ version: baseSpec.version });

/** kubelet can't mount what it needs. */
const unmounted = all(
  running,
  withEndpoint(silent),
  withPod({ ready: false, node: 'node-1', hasSandbox: false }),
  withContainer({ state: 'waiting', reason: 'ContainerCreating', everStarted: false }),
  (slot: Slot): Slot => {
    const [since, at] = [new Date('2026-01-02T02:00:00Z'), new Date('2026-01-02T03:00:00Z')];
    const uid = slot.pod?.uid ?? '';
    return { ...slot, warnings: [{ object: 'pod', uid, reason: 'FailedMount', message: '', since, at, count: 5 }] };
  },
);

/** None has been well for longer than any grace. */
function longAgo(size: number) {
  const unhealthySince = '2026-01-02T02:00:00Z';
  const members = Array.from({ length: size }, (_, n) => ({ name: `orders-${n}`, healthy: false, unhealthySince }));
  return { observedGeneration: 1, members };
}

function well(size: number, { spec = {}, tls = false }: { spec?: Partial<EtcdClusterSpec>; tls?: boolean } = {}) {
  return healthy(size, { every: running, spec, ...(tls && { certificates: managed(size) }) });
}

const reasonsOf = ({ steps }: Plan) => steps.map(({ reason }) => reason);

describe('a plan', () => {
  test('of a cluster at rest has no steps', () => {
    const { steps, end } = plan(well(3));
    assert.deepEqual([steps.length, end.kind, end.reason], [0, 'done', 'Converged']);
  });

  test('can be made of a spec alone', () => {
    const cluster = withDefaults({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' } },
    });
    const observation = nothingOf(cluster, { at: new Date('2026-01-01T00:00:00Z'), nonce: 'nonce0nonce0nonce0' });
    const made = planChange(observation, cluster);
    assert.deepEqual(reasonsOf(made), ['PreparingMembers', 'SealingMembers']);
    assert.equal(made.end.kind, 'done');
    assert.equal(summaryOf(observation, made), '2 steps: +3 members');
  });

  test('names the advisories that the target cures, and nothing where it cures none', () => {
    const running = (version: string) =>
      healthy(3, {
        every: (slot) => {
          assert.ok(slot.endpoint.kind === 'known');
          return { ...slot, endpoint: { ...slot.endpoint, status: { ...slot.endpoint.status, version } } };
        },
      });
    const ended = (from: string, to: string) =>
      changesOf(running(from), {
        steps: [],
        end: { kind: 'done', reason: 'Converged', message: '' },
        outcome: running(to),
      });
    assert.deepEqual(ended('3.6.12', '3.6.13'), ['3.6.12→3.6.13', 'cures GHSA-3wh4-j44w-pg92']);
    assert.deepEqual(ended('3.6.14', '3.6.16'), ['3.6.14→3.6.16']);
  });

  test('of a birth from a snapshot says so', () => {
    const cluster = withDefaults({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: {
        ...{ replicas: 3, version: '3.6.16', storage: { size: '8Gi' } },
        bootstrap: { snapshot: { object: 's3://backups/shop/orders.db' } },
      },
    });
    const observation = nothingOf(cluster, { at: new Date('2026-01-01T00:00:00Z'), nonce: 'nonce0nonce0nonce0' });
    const made = planChange(observation, cluster);
    assert.match(summaryOf(observation, made), /^\d steps: restored from a snapshot, \+3 members$/);
  });

  test('names the Service for clients outside, asked for and taken back', () => {
    const before = well(3);
    const asked = { ...before.cluster, spec: { ...before.cluster.spec, service: { type: 'LoadBalancer' as const } } };
    const opening = planChange(before, asked);
    const closing = planChange(
      { ...before, shared: { ...before.shared, externalService: { state: 'present' } } },
      before.cluster,
    );
    for (const [{ steps, end }, service] of [
      [opening, 'external-service'],
      [closing, 'no-external-service'],
    ] as const) {
      assert.deepEqual(
        steps.map(({ action, target, restarts }) => [action, target, restarts]),
        [['apply-shared', service, undefined]],
      );
      assert.equal(end.reason, 'Converged');
    }
    assert.match(planText(opening), /apply-shared +external-service +ApplyingServices/);
  });

  test('ends with the cure where a person is needed, after what can be done', () => {
    const observation = well(3);
    const made = planChange(observation, {
      ...observation.cluster,
      spec: { ...observation.cluster.spec, version: '3.5.35', etcd: { snapshotCount: 5000 } },
    });
    assert.equal(made.steps.filter(({ restarts }) => restarts).length, 3);
    assert.equal(made.end.kind, 'refused');
    assert.ok(made.end.kind === 'refused' && made.end.cure.includes('3.6.16'));
    assert.equal(summaryOf(observation, made), '3 steps: 3 restarts; then a person is needed (DowngradeRefused)');
  });

  test('ends with what a person is asked for where what is waited for outlasts a grace', () => {
    const unschedulable = (slot: Observation['slots'][number]) =>
      withEndpoint(silent)(withPod({ ready: false, unscheduled: 'Unschedulable' })(slot));
    const { end, steps } = plan(healthy(3, { every: running, slots: { 2: unschedulable } }));
    assert.deepEqual([steps, end.kind, end.reason], [[], 'refused', 'PodUnscheduled']);
  });

  test('waits for another cluster of the fleet to be done', () => {
    const { end } = plan({ ...well(3, { spec: { etcd: { snapshotCount: 5000 } } }), crowdedBy: ['shop/z'] });
    assert.deepEqual([end.kind, end.reason], ['waits', 'WaitingForRoom']);
  });

  test('lets a grace pass, and replaces the member that is lost', () => {
    const lost = (slot: Observation['slots'][number]) =>
      without('volume')(withEndpoint(silent)(withPod({ ready: false })(slot)));
    const observation = healthy(3, { every: running, slots: { 1: lost } });
    const { steps, end, outcome } = plan(observation);
    assert.deepEqual(
      steps.filter(({ action }) => action !== 'apply-shared').map(({ action, target }) => [action, target]),
      [
        ['prepare-members', 'orders-3'],
        ['remove-member', 'orders-1'],
        ['add-learner', 'orders-3'],
        ['seal-members', 'orders-3'],
      ],
    );
    assert.equal(end.kind, 'done');
    assert.equal(outcome.at.getTime() - observation.at.getTime(), 10 * 60_000, 'no longer than the grace');
  });

  test('does not promise that a member which keeps crashing comes back', () => {
    const { end } = plan(
      healthy(3, { every: (slot) => crashing(running(slot)), membership: { kind: 'unknown', cause: 'no' } }),
    );
    assert.deepEqual([end.kind, end.reason], ['refused', 'MemberKeepsExiting']);
  });

  for (const [what, differences] of Object.entries({
    'its Secret': { certificates: managed(3, { leaves: { 'orders-1-server-tls': missing } }) },
    'the list of refused clients': {
      certificates: managed(3),
      spec: { tls: { mode: 'Managed', revokedClientSerials: [] } },
    },
  } as const)) {
    test(`foretells that a pod which waits for ${what} starts once that is made`, () => {
      const { steps, end } = plan(healthy(3, { every: running, slots: { 1: unmounted }, ...differences }));
      assert.ok(steps.length > 0);
      assert.deepEqual([end.kind, end.reason], ['done', 'Converged'], end.message);
    });
  }

  test('counts voters whose volumes are gone, also where no member tells the list', () => {
    const gone = (slot: Slot): Slot => {
      const peer = slot.peer && { ...slot.peer, memberId: memberId(slot.ordinal) };
      return { ...all(withEndpoint(silent), without('volume', 'configMap', 'pod'))(slot), ...(peer && { peer }) };
    };
    const left = all(running, withEndpoint(silent), withPod({ ready: false }));
    const { steps, end } = plan(
      healthy(4, {
        membership: { kind: 'unknown', cause: 'no member answers' },
        slots: { 0: left, 1: gone, 2: all(left, withPod({ leaving: true })), 3: gone },
        status: longAgo(4),
      }),
    );
    assert.ok(
      steps.every(({ action }) => action === 'read-logs'),
      steps.map(({ action }) => action).join(),
    );
    assert.deepEqual([end.kind, end.reason], ['refused', 'QuorumLost'], end.message);
  });

  test('that would do the same for ever ends where it begins to, and says so', () => {
    const observation = well(3);
    const bind = { kind: 'set-finalizer', present: true } as const;
    const stubborn = plan(observation, () => act(bind, 'SettingFinalizer', 'again'));
    assert.deepEqual(
      [stubborn.steps.length, stubborn.end.kind, stubborn.end.reason],
      [2, 'circles', 'SettingFinalizer'],
    );
    let size = 1;
    const restless = plan(observation, () => {
      size += 1;
      const volumes = [{ name: 'orders-0', uid: 'volume-0', size: `${size}Gi` }];
      return act({ kind: 'grow-volumes', volumes }, 'GrowingVolumes', 'and larger');
    });
    assert.deepEqual([restless.steps.length, restless.end.kind], [250, 'goes-on']);
  });

  test('does not say what a compaction will free', () => {
    const full = endpoint(0, {
      errors: ['memberID:160 alarm:NOSPACE '],
      dbSize: 700n << 20n,
      dbSizeInUse: 690n << 20n,
    });
    const observation = healthy(1, {
      every: (slot) => withEndpoint(full)(withPod({ quota: 512 << 20 })(running(slot))),
    });
    const { steps, end } = plan({ ...observation, hasHistory: true });
    assert.deepEqual([steps.map(({ action }) => action), end.kind], [['compact'], 'waits']);
  });

  test('of another version of three members under TLS takes less than fifty milliseconds', () => {
    const before = well(3, { tls: true });
    const desired = { ...before.cluster, spec: { ...before.cluster.spec, version: '3.7.3' } };
    const took = Array.from({ length: 10 }, () => {
      const begun = performance.now();
      assert.equal(planChange(before, desired).steps.length, 4);
      return performance.now() - begun;
    });
    assert.ok(Math.min(...took) < 50, took.join(', '));
  });

  test('is printed in columns, and in Markdown that no name can break', () => {
    const made = plan(well(1, { spec: { etcd: { snapshotCount: 5000 } } }));
    assert.equal(
      planText(made),
      [
        '#  ACTION           TARGET    REASON                MESSAGE',
        '1  change-template  orders-0  RollingConfiguration  giving orders-0 the configuration of the spec, and restarting it; a cluster of this size does not serve meanwhile',
        '→ Converged: 1 member of etcd 3.6.16, all healthy',
      ].join('\n'),
    );
    const [step] = made.steps;
    const nasty = planMarkdown({ steps: [{ ...(step ?? assert.fail()), message: 'a | b\n<b>' }], end: made.end });
    assert.match(nasty, /\| a \\\| b \\<b\\> \|/);
  });
});

describe('whatever is observed, a plan', () => {
  test('comes to an end, and changes nothing of what it was made from', () => {
    fc.assert(
      fc.property(observations, (observation) => {
        const before = structuredClone(observation);
        const { end, steps } = plan(observation);
        assert.ok(!['goes-on', 'circles'].includes(end.kind), `${end.kind} after ${steps.length} steps: ${end.reason}`);
        assert.deepEqual(observation, before);
      }),
      { numRuns: 1500 },
    );
  });

  test('begins with what a step would do now', () => {
    fc.assert(
      fc.property(observations, (observation) => {
        const decision = decide(observation);
        const [first] = plan(observation).steps;
        if (decision.kind !== 'act') return;
        assert.deepEqual([first?.action, first?.reason], [decision.action.kind, decision.reason]);
      }),
      { numRuns: 1500 },
    );
  });

  test('rests on a world that comes to rest, and on writes that are the same when they come twice', () => {
    fc.assert(
      fc.property(observations, (observation) => {
        const settled = settle(observation);
        assert.equal(settle(settled), settled);
        const decision = decide(observation);
        if (decision.kind !== 'act') return;
        const once = carriedOut(decision.action, observation);
        assert.deepEqual(carriedOut(decision.action, once), once, decision.reason);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('of a healthy cluster, whatever commit comes, a plan', () => {
  const sizes = fc.constantFrom(1, 2, 3, 4, 5);
  const specs: fc.Arbitrary<Partial<EtcdClusterSpec>> = fc.record(
    {
      replicas: fc.constantFrom(0, 1, 2, 3, 4, 5, 7),
      version: fc.constantFrom('3.5.35', '3.6.10', '3.6.16', '3.6.17', '3.7.3', 'v3.6.17', '3.9.1'),
      storage: fc.constantFrom({ size: '512Mi' }, { size: '2Gi' }, { size: '1Gi', storageClassName: 'fast' }),
      etcd: fc.constantFrom({ snapshotCount: 5000 }, { extraArgs: { 'max-txn-ops': '1024' } }),
      resources: fc.constant({ limits: { memory: '1Gi' } }),
      podTemplate: fc.constantFrom({ metadata: { labels: { a: 'b' } } }, { spec: { hostNetwork: true } }),
      tls: fc.constantFrom({ mode: 'Managed' as const }, { mode: 'Disabled' as const }),
      volumeRetention: fc.constantFrom({ whenDeleted: 'Delete' as const }, { whenScaled: 'Retain' as const }),
      suspend: fc.constant(true),
    },
    { requiredKeys: [] },
  );
  const commits = fc.record({ size: sizes, tls: fc.boolean(), spec: specs, rotate: fc.boolean() });

  test('ends where all that was asked for is done, or a person is told what can not be', () => {
    fc.assert(
      fc.property(commits, ({ size, tls, spec, rotate }) => {
        const before = well(size, { tls });
        const metadata = rotate ? { annotations: { [annotations.rotateCertificates]: 'now' } } : {};
        const desired = { metadata, spec: { ...before.cluster.spec, ...spec } };
        const { end, steps, outcome } = planChange(before, desired);
        assert.ok(['done', 'refused'].includes(end.kind), `${end.kind} ${end.reason} after ${steps.length} steps`);
        if (end.reason !== 'Converged') return;
        assert.equal(outcome.slots.filter(({ peer }) => peer).length, desired.spec.replicas);
        for (const { pod, volume } of outcome.slots.filter(({ peer }) => peer)) {
          assert.deepEqual([pod?.ready, pod?.upToDate, volume?.bound], [true, 'yes', true]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('undone by the next commit, it ends where it was', () => {
    fc.assert(
      fc.property(commits, fc.nat(12), ({ size, tls, spec: { version: _, storage: __, ...spec } }, stop) => {
        const before = well(size, { tls });
        let now = withDesired(before, { metadata: {}, spec: { ...before.cluster.spec, ...spec } });
        for (let step = 0; step < stop; step += 1) now = simulate(now, decide(now));
        const back = planChange(now, { metadata: {}, spec: before.cluster.spec });
        assert.equal(back.end.kind, 'done', `${back.end.reason}: ${back.end.message}`);
        assert.equal(back.outcome.slots.filter(({ pod }) => pod?.ready).length, size);
      }),
      { numRuns: 500 },
    );
  });

  test('ends in nothing where it is deleted', () => {
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.boolean(), (size, tls, all) => {
        const spec = { volumeRetention: { whenDeleted: all ? ('Delete' as const) : ('Retain' as const) } };
        const held = plan(well(size, { spec, tls })).outcome;
        const { end, outcome } = planChange(held, undefined);
        assert.deepEqual([end.kind, end.reason], ['done', 'Deleted']);
        if (all) assert.deepEqual(outcome.slots, []);
      }),
      { numRuns: 50 },
    );
  });
});
