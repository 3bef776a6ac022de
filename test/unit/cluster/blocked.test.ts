import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { planChange } from '../../../reconcile/cluster/foresee/change.ts';
import { needOfReplacement } from '../../../reconcile/cluster/know/health/down.ts';
import { ailmentOf } from '../../../reconcile/cluster/know/health/health.ts';
import type { NodeView, Observation, PodView, Slot, Warning } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  type Differences,
  fresh,
  healthy,
  recordFor,
  silent,
  starting,
  unsealed,
  withContainer,
  withEndpoint,
  without,
  withPod,
  withVolume,
} from './observations.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const ago = (seconds: number) => new Date(now - seconds * 1000);

function warning(object: Warning['object'], uid: string, reason: string, more: Partial<Warning> = {}): Warning {
  return { object, uid, reason, message: 'somebody’s words', since: ago(200), at: ago(60), count: 5, ...more };
}

function warned(...warnings: readonly Warning[]): (slot: Slot) => Slot {
  return (slot) => ({ ...slot, warnings });
}

/** It has a node, and no volumes and network yet. */
const creating = all(
  withEndpoint(silent),
  withPod({
    ready: false,
    node: 'node-1',
    hasSandbox: false,
    createdAt: ago(1500),
    mounts: { secrets: [], others: false },
  }),
  withContainer({ state: 'waiting', reason: 'ContainerCreating', everStarted: false }),
);

function onPod(...codes: readonly string[]) {
  return all(creating, warned(...codes.map((code) => warning('pod', 'pod-1', code))));
}

const refused = all(without('pod'), withEndpoint(silent), warned(warning('statefulSet', 'set-1', 'FailedCreate')));
const unprovisioned = all(
  fresh,
  withEndpoint(silent),
  withPod({ ready: false, unscheduled: 'Unschedulable' }),
  warned(warning('volume', 'volume-1', 'ProvisioningFailed')),
);

const ready: NodeView = { state: 'ready', labels: {}, schedulable: true };

function ill(change: (slot: Slot) => Slot, seconds: number, differences: Differences = {}): Observation {
  const unhealthySince = ago(seconds).toISOString();
  const status = {
    observedGeneration: 1,
    members: [0, 1, 2, 3].map((n) => ({ name: `orders-${n}`, healthy: n !== 1, ...(n === 1 && { unhealthySince }) })),
  };
  return { ...healthy(3, { slots: { 1: change }, status, ...differences }), nodes: { 'node-1': ready } };
}

describe('a member that does not come to run says what is reported, when', () => {
  for (const [what, change, reason, isPassing] of [
    ['its pod is refused', refused, 'PodRefused', false],
    ['no volume is provisioned', unprovisioned, 'VolumeNotProvisioned', true],
    ['its volume is not attached', onPod('FailedAttachVolume'), 'VolumeNotAttached', true],
    ['its volume is not mounted', onPod('FailedMount'), 'VolumeNotMounted', true],
    ['its volume can’t be mapped', onPod('FailedMapVolume'), 'VolumeNotMounted', true],
    ['its volume’s growth fails', onPod('VolumeResizeFailed'), 'VolumeNotMounted', true],
    ['its file system’s growth fails', onPod('FileSystemResizeFailed'), 'VolumeNotMounted', true],
    ['its pod gets no network', onPod('FailedCreatePodSandBox'), 'PodSandboxFailed', true],
    ['its node has no network', onPod('NetworkNotReady'), 'PodSandboxFailed', true],
    ['several are: the one that comes first', onPod('FailedMount', 'FailedAttachVolume'), 'VolumeNotAttached', true],
    ['it ran before its node was started anew', all(onPod('FailedMount'), ended), 'VolumeNotMounted', true],
  ] as const) {
    test(`${what}: ${reason}`, () => {
      const ailment = ailmentOf(ill(change, 300).slots[1] ?? assert.fail(), ill(change, 300));
      assert.deepEqual([ailment?.reason, ailment?.passing], [reason, isPassing]);
      assert.match(ailment?.message ?? '', /orders-1.*somebody’s words/);
      assert.notEqual(ailment?.cure, '');
    });
  }

  function ended(slot: Slot): Slot {
    return withContainer({ state: 'terminated', reason: 'Error', everStarted: true, restarts: 4 })(slot);
  }
});

describe('nothing that is reported counts, where', () => {
  const older = warned(warning('pod', 'an earlier one', 'FailedMount'));
  for (const [what, change, reason] of [
    ['it is of an earlier pod of that name', all(creating, older), 'MemberStarting'],
    ['its container runs by now', all(onPod('FailedMount'), withContainer({ state: 'running' })), 'MemberStarting'],
    ['its volumes and network are there', all(onPod('FailedMount'), withPod({ hasSandbox: true })), 'MemberStarting'],
    ['it is Ready', warned(warning('pod', 'pod-1', 'FailedMount')), undefined],
    ['its pod is there', all(creating, warned(warning('statefulSet', 'set-1', 'FailedCreate'))), 'MemberStarting'],
    ['its pod leaves', all(onPod('FailedMount'), withPod({ leaving: true })), 'PodLeaving'],
  ] as const) {
    test(what, () => {
      const observation = ill(change, 300);
      assert.equal(ailmentOf(observation.slots[1] ?? assert.fail(), observation)?.reason, reason);
    });
  }
});

describe('who decides says it:', () => {
  const madeAnew = withPod({ createdAt: ago(240) });
  for (const [what, change, seconds, expected] of [
    ['a refused pod is a person’s at once', refused, 120, ['refuse', 'PodRefused']],
    ['no network is waited for', all(onPod('FailedCreatePodSandBox'), madeAnew), 300, ['wait', 'PodSandboxFailed']],
    ['a volume that may be given up later says so', all(onPod('FailedMount'), madeAnew), 300, ['wait', 'MemberDown']],
    ['its pod is made anew first, once', onPod('FailedMount'), 300, ['act', 'RecreatingPod']],
    ['and not within its grace', onPod('FailedMount'), 119, ['wait', 'VolumeNotMounted']],
    [
      'after its grace it is a person’s',
      all(onPod('FailedCreatePodSandBox'), madeAnew),
      600,
      ['refuse', 'PodSandboxFailed'],
    ],
    ['so is a pod of which nothing is reported', all(creating, madeAnew), 600, ['refuse', 'MemberStarting']],
    ['and one that is never made', all(without('pod'), withEndpoint(silent)), 600, ['refuse', 'PodMissing']],
    ['and one that waits for an init container', initializing(madeAnew), 600, ['refuse', 'PodInitializing']],
    ['which its grace allows', initializing(madeAnew), 599, ['wait', 'PodInitializing']],
  ] as const) {
    test(what, () => {
      const decision = decide(ill(change, seconds));
      assert.deepEqual([decision.kind, decision.reason], expected, decision.message);
      if (decision.kind === 'refuse') assert.notEqual(decision.cure, '');
    });
  }

  function initializing(change: (slot: Slot) => Slot) {
    return all(creating, withPod({ hasSandbox: true }), withContainer({ reason: 'PodInitializing' }), change);
  }

  test('a first run within its startup probe’s time counts for nothing yet, a second one does', () => {
    for (const [restarts, kind] of [
      [0, 'wait'],
      [1, 'refuse'],
    ] as const) {
      const slow = {
        state: 'running',
        everStarted: true,
        startedAt: ago(700),
        startupMs: 3_600_000,
        restarts,
      } as const;
      const decision = decide(ill(all(creating, withContainer(slow)), 800));
      assert.deepEqual([decision.kind, decision.reason], [kind, 'MemberStarting']);
    }
  });

  test('a birth names what holds a member up, and is a person’s where it does not pass', () => {
    const unhealthySince = ago(300).toISOString();
    const status = { observedGeneration: 1, members: [{ name: 'orders-1', healthy: false, unhealthySince }] };
    for (const [change, expected] of [
      [refused, ['refuse', 'PodRefused']],
      [onPod('FailedMount'), ['wait', 'WaitingForQuorum']],
      [unprovisioned, ['wait', 'WaitingForQuorum']],
    ] as const) {
      const decision = decide(starting(3, { slots: { 1: change }, status }));
      assert.deepEqual([decision.kind, decision.reason], expected);
      assert.match(decision.message, /somebody’s words/);
    }
  });

  for (const [what, change, expected] of [
    ['a volume that is not mounted is waited for', onceMore(), ['wait', 'VolumeNotMounted']],
    [
      'a refused pod is a person’s',
      all(reportedOf('statefulSet', 'FailedCreate'), without('pod')),
      ['refuse', 'PodRefused'],
    ],
    ['so is, in the end, a volume that is not provisioned', homeless(), ['refuse', 'VolumeNotProvisioned']],
  ] as const) {
    test(`of a learner, ${what}`, () => {
      const record = recordFor(3, 4, 'joining');
      const variables = bootstrapVariables(record, 'orders-3');
      const { slots, membership } = healthy(4);
      const joining = all(unsealed, withVolume({ record: { kind: 'valid', record } }), creating, change, (slot) => ({
        ...slot,
        configMap: {
          ...(slot.configMap ?? assert.fail()),
          initialCluster: variables.ETCD_INITIAL_CLUSTER,
          initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE,
        },
      }))(slots[3] ?? assert.fail());
      const url = 'http://orders-3-0.orders-peers.shop.svc:2380';
      const listed = { id: 'a3', name: '', peerURLs: [url], clientURLs: [], isLearner: true };
      const members = membership.kind === 'known' ? membership.members.slice(0, 3) : [];
      const known = { ...membership, members: [...members, listed] } as Observation['membership'];
      const shared = { disruptionBudget: { state: 'present', minAvailable: 3 } } as const;
      const unhealthySince = ago(900).toISOString();
      const status = { observedGeneration: 1, members: [{ name: 'orders-3', healthy: false, unhealthySince }] };
      const differences = { spec: { replicas: 4 }, more: [joining], membership: known, shared, status };
      const decision = decide(healthy(3, differences));
      assert.deepEqual([decision.kind, decision.reason], expected, decision.message);
      assert.match(decision.message, /orders-3.*somebody’s words.*as a learner/);
    });
  }

  function onceMore() {
    return all(reportedOf('pod', 'FailedMount'), withPod({ createdAt: ago(240) }));
  }

  function reportedOf(object: 'pod' | 'statefulSet' | 'volume', code: string) {
    const uid = { pod: 'pod-3', statefulSet: 'set-3', volume: 'volume-3' }[object];
    return warned(warning(object, uid, code));
  }

  function homeless() {
    const unbound = withVolume({ bound: false });
    return all(reportedOf('volume', 'ProvisioningFailed'), unbound, withPod({ unscheduled: 'Unschedulable' }));
  }
});

describe('a volume that can’t be mounted is given up only where all else is known to be there', () => {
  const stuck = all(onPod('FailedMount'), warned(warning('pod', 'pod-1', 'FailedMount', { since: ago(900) })));
  const mount = (more: Partial<Warning>) => all(stuck, warned(warning('pod', 'pod-1', 'FailedMount', more)));
  const reported = (code: string) => all(stuck, warned(warning('pod', 'pod-1', code, { since: ago(900) })));
  const isOn = (pod: Partial<PodView>) => all(stuck, withPod(pod));

  for (const [what, change, differences, expected] of [
    ['all of it is', stuck, {}, true],
    ['it is not attached', reported('FailedAttachVolume'), {}, true],
    ['within its grace', mount({ since: ago(599) }), {}, 'later'],
    ['kubelet is silent about it by now', mount({ at: ago(601) }), {}, false],
    ['its growth is what fails', reported('VolumeResizeFailed'), {}, false],
    ['its network is what fails', reported('FailedCreatePodSandBox'), {}, false],
    ['it was not made anew yet', isOn({ createdAt: ago(2000) }), {}, false],
    ['it mounts a Secret that was not seen', isOn({ mounts: { secrets: ['extra'], others: false } }), {}, false],
    ['it mounts what is not looked at', isOn({ mounts: { secrets: [], others: true } }), {}, false],
    ['nobody told what it mounts', (slot: Slot) => untold(stuck(slot)), {}, false],
    ['kubelet does not say whether it has a sandbox', (slot: Slot) => unsaid(stuck(slot)), {}, false],
    ['its node is not known', stuck, { nodes: undefined }, false],
    ['its node is gone', stuck, { nodes: {} }, false],
    ['its node is silent', stuck, { nodes: { 'node-1': { ...ready, state: 'silent' } } }, false],
    ['another member can’t be mounted either', stuck, { other: creating }, false],
    ['its PersistentVolume is gone', all(mount({ since: ago(1) }), withDisk('gone')), {}, true],
    ['its PersistentVolume could not be read', all(mount({ since: ago(1) }), withDisk('unknown')), {}, 'later'],
  ] as const) {
    test(`${what}: ${expected === 'later' ? 'later' : expected ? 'it may be' : 'never'}`, () => {
      const { nodes, other }: { nodes?: Observation['nodes']; other?: (slot: Slot) => Slot } = differences;
      const seen = ill(change, 1800, other ? { slots: { 1: change, 2: other } } : {});
      const { nodes: all, ...blind } = seen;
      const known = 'nodes' in differences ? (nodes ? { ...blind, nodes } : blind) : { ...blind, nodes: all ?? {} };
      const situation = situate(known);
      assert.equal(needOfReplacement(situation.slots[1] ?? assert.fail(), situation) !== undefined, expected !== false);
      const decision = decide(known);
      assert.equal(decision.reason === 'ReplacingMember', expected === true, decision.message);
    });
  }

  function withDisk(state: 'gone' | 'unknown') {
    return withVolume({ disk: { pv: 'pv-1', state, homes: 'unknown' } });
  }

  function untold({ pod, ...slot }: Slot): Slot {
    const { mounts: _, ...rest } = pod ?? assert.fail();
    return { ...slot, pod: rest };
  }

  function unsaid({ pod, ...slot }: Slot): Slot {
    const { hasSandbox: _, ...rest } = pod ?? assert.fail();
    return { ...slot, pod: rest };
  }

  test('not while it only may have been, within the grace of the member', () => {
    const long = { since: ago(700) };
    const decision = decide(ill(all(mount(long), withPod({ createdAt: ago(100) })), 599));
    assert.deepEqual([decision.kind, decision.reason], ['wait', 'MemberDown']);
    assert.match(decision.message, /FailedMount: somebody’s words/);
  });

  test('nor where the others are no quorum (I9)', () => {
    const decision = decide(
      ill(stuck, 1800, { slots: { 1: stuck, 2: all(without('volume', 'pod'), withEndpoint(silent)) } }),
    );
    assert.notEqual(decision.kind, 'act', decision.reason);
  });
});

describe('a plan promises nothing that is reported to fail', () => {
  for (const [what, change, reason] of [
    ['a refused pod', refused, 'PodRefused'],
    ['a volume that is not mounted', all(onPod('FailedMount'), withPod({ createdAt: ago(240) })), 'VolumeNotMounted'],
    ['a volume that is not provisioned', unprovisioned, 'VolumeNotProvisioned'],
  ] as const) {
    test(what, () => {
      const observation = ill(change, 300, { slots: { 1: change } });
      const { end } = planChange({ ...observation, nodes: {} }, observation.cluster);
      assert.deepEqual([end.kind, end.reason], ['refused', reason]);
    });
  }

  test('and foresees that a member is replaced whose volume alone is at fault', () => {
    const observation = ill(all(onPod('FailedMount'), withPod({ createdAt: ago(240) })), 300);
    const { steps, end } = planChange(observation, observation.cluster);
    assert.ok(steps.some(({ reason }) => reason === 'ReplacingMember'));
    assert.deepEqual([end.kind, end.reason], ['done', 'Converged']);
  });
});
