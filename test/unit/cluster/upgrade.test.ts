import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  endpoint,
  healthy,
  silent,
  waiting,
  withEndpoint,
  withInputs,
  withPod,
  withRecord,
} from './observations.ts';

/** Peer and template say this version; so does the pod, unless another one is told. */
const on =
  (version: string, { pod = version, index = '0' } = {}) =>
  (slot: Slot): Slot => {
    const status = slot.endpoint.kind === 'known' ? slot.endpoint.status : undefined;
    const changed = all(
      withInputs({ version }),
      withPod({ version: pod, ...(pod !== version && { upToDate: 'no' }) }),
      withRecord({ version: pod, minorSince: { minor: pod.slice(0, 3), index } }),
      status ? withEndpoint({ kind: 'known', status: { ...status, version: pod } }) : (same: Slot) => same,
    )(slot);
    if (!changed.peer || !changed.statefulSet) return changed;
    return { ...changed, statefulSet: { ...changed.statefulSet, inputsHash: inputsHash(changed.peer.inputs) } };
  };
const ran = (version: string, before: string) =>
  all(on(version), withRecord({ version: before, nextVersion: version }));

const led = (leader: number) => (slot: Slot) =>
  slot.endpoint.kind === 'known'
    ? withEndpoint({ kind: 'known', status: { ...slot.endpoint.status, leader: `a${leader}` } })(slot)
    : slot;

function from(
  version: string,
  wanted: string,
  slots: Readonly<Record<number, (slot: Slot) => Slot>> = {},
  settled = `${version.slice(0, 3)}.0`,
): Observation {
  const every = all(on(version), led(1));
  const led1 = Object.fromEntries(Object.entries(slots).map(([n, change]) => [n, all(change, led(1))]));
  return { ...healthy(3, { spec: { version: wanted }, every, slots: led1 }), clusterVersion: settled };
}

const etcd = { snapshotCount: 5000 };

describe('an upgrade', () => {
  for (const [what, observation, reason, target] of [
    ['begins with a follower', from('3.5.35', '3.6.16'), 'UpgradingMember', 'orders-0'],
    [
      'starts that one anew before it gives anybody else the version',
      from('3.5.35', '3.6.16', { 0: on('3.6.16', { pod: '3.5.35' }) }),
      'UpgradingMember',
      'orders-0',
    ],
    [
      'goes on with the next follower',
      from('3.5.35', '3.6.16', { 0: ran('3.6.16', '3.5.35') }),
      'UpgradingMember',
      'orders-2',
    ],
    [
      'ends with the leader',
      from('3.5.35', '3.6.16', { 0: ran('3.6.16', '3.5.35'), 2: ran('3.6.16', '3.5.35') }),
      'UpgradingMember',
      'orders-1',
    ],
    [
      'waits for the member that it started',
      from('3.5.35', '3.6.16', { 0: all(ran('3.6.16', '3.5.35'), waiting) }),
      'MemberStarting',
      undefined,
    ],
    [
      'reaches a member that is not Ready first, by way of its cure',
      from('3.5.35', '3.6.16', {
        0: ran('3.6.16', '3.5.35'),
        2: all(withPod({ ready: false }), withEndpoint(silent)),
      }),
      'CuringConfiguration',
      'orders-2',
    ],
    [
      'goes back in the same manner',
      from('3.5.35', '3.5.35', { 0: ran('3.6.16', '3.5.35') }),
      'RollingBackVersion',
      'orders-0',
    ],
    [
      'first of all takes back the template of who still runs the old, also while another is down',
      from('3.5.35', '3.5.35', {
        0: all(ran('3.6.16', '3.5.35'), withPod({ ready: false }), withEndpoint(silent)),
        1: all(on('3.6.16', { pod: '3.5.35' }), withRecord({ nextVersion: '3.6.16' })),
      }),
      'CorrectingTemplates',
      'orders-1',
    ],
    [
      'goes from patch to patch in the same manner',
      from('3.6.16', '3.6.17', { 0: ran('3.6.17', '3.6.16') }),
      'UpgradingMember',
      'orders-2',
    ],
    [
      'waits for etcd to move the cluster version',
      healthyOn('3.6.16', '3.5.35', '3.5.0'),
      'AwaitingClusterVersion',
      undefined,
    ],
    ['is written on the volumes then', healthyOn('3.6.16', '3.5.35', '3.6.0'), 'RecordingVersion', 'all'],
    [
      'takes what was never kept off a volume',
      from('3.5.35', '3.5.35', { 2: withRecord({ nextVersion: '3.6.16' }) }),
      'RecordingVersion',
      'orders-2',
    ],
    [
      'to 3.7 waits for snapshots',
      { ...healthy(3, { spec: { version: '3.7.3' }, every: on('3.6.16', { index: '500' }) }) },
      'PreparingUpgrade',
      undefined,
    ],
    [
      'stops at a member that was given an image of another version',
      from('3.6.16', '3.6.17', { 0: all(on('3.6.17'), withEndpoint(endpoint(0, { version: '3.6.16' }))) }),
      'ImageOfAnotherVersion',
      undefined,
    ],
  ] as const) {
    test(`${what}: ${reason}`, () => {
      const decision = decide(observation);
      assert.equal(decision.reason, reason, decision.message);
      if (decision.kind !== 'act' || target === undefined || target === 'all') return;
      const { action } = decision;
      const name =
        action.kind === 'change-template'
          ? action.peer.name
          : action.kind === 'restart-member'
            ? action.pod.name
            : action.kind === 'reconfigure-members'
              ? action.peers[0]?.name
              : action.kind === 'note-versions'
                ? action.members[0]?.name
                : undefined;
      assert.equal(name, target);
    });
  }

  test('changes the version and its image, and nothing else of the commit', () => {
    const image = { repository: 'registry.example.com:5000/etcd', digest: `sha256:${'b'.repeat(64)}` };
    const decision = decide(healthy(3, { spec: { version: '3.7.3', image, etcd } }));
    assert.ok(decision.kind === 'act' && decision.action.kind === 'change-template');
    const { inputs } = decision.action;
    assert.deepEqual([inputs.version, inputs.image, inputs.etcd], ['3.7.3', image, undefined]);
  });

  test('comes before the configuration, which comes before the size', () => {
    const spec = { version: '3.6.17', etcd, replicas: 5 };
    assert.equal(decide(healthy(3, { spec })).reason, 'UpgradingMember');
    const { version: _, ...rest } = spec;
    assert.equal(decide(healthy(3, { spec: rest })).reason, 'RollingConfiguration');
  });

  test('that waits for its turn in the fleet says so, and one that was begun goes on', () => {
    const none = { crowdedBy: ['shop/z'] };
    assert.equal(decide({ ...from('3.6.16', '3.6.17'), ...none }).reason, 'WaitingForRoom');
    const begun = from('3.6.16', '3.6.17', { 0: ran('3.6.17', '3.6.16') });
    assert.equal(decide({ ...begun, ...none }).reason, 'UpgradingMember');
  });

  test('leaves a template alone that has the version, also if the configuration differs', () => {
    const observation = from('3.6.16', '3.6.17', { 0: on('3.6.17', { pod: '3.6.16' }) });
    const spec = { ...observation.cluster.spec, etcd };
    const decision = decide({ ...observation, cluster: { ...observation.cluster, spec } });
    assert.equal(decision.kind === 'act' && decision.action.kind, 'restart-member');
  });

  test('to another minor notes raft’s last index, to another patch none', () => {
    for (const [before, since] of [
      ['3.5.35', { minor: '3.6', index: '1000' }],
      ['3.6.15', undefined],
    ] as const) {
      const decision = decide(healthyOn('3.6.16', before, '3.6.0'));
      assert.ok(decision.kind === 'act' && decision.action.kind === 'note-versions');
      assert.deepEqual(decision.action.since, since);
    }
  });

  test('asks for as many entries as every member needs for a snapshot', () => {
    const every = on('3.6.16', { index: '18446744073709000000' });
    const decision = decide(healthy(3, { spec: { version: '3.7.3' }, every }));
    assert.deepEqual(decision.kind === 'act' && decision.action, {
      kind: 'advance-log',
      clusterId: 'c1c1',
      index: '18446744073709015200',
    });
  });
});

function healthyOn(version: string, before: string, clusterVersion: string): Observation {
  return { ...healthy(3, { spec: { version }, every: ran(version, before) }), clusterVersion };
}
