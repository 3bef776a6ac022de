import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ailmentOf, isDownOnItsConfiguration, memberOf } from '../../../reconcile/cluster/know/health/health.ts';
import {
  all,
  crashing,
  endpoint,
  healthy,
  members,
  noQuorum,
  silent,
  unsealed,
  waiting,
  withContainer,
  withEndpoint,
  without,
  withPod,
  withVolume,
} from './observations.ts';

describe('what is wrong with a member', () => {
  test('nothing, when all is well', () => {
    const observation = healthy(3);
    for (const slot of observation.slots) assert.equal(ailmentOf(slot, observation), undefined);
  });

  for (const [what, change, reason, passing] of [
    ['its volume is gone', without('volume'), 'VolumeMissing', false],
    ['what was behind its volume is gone', withVolume({ lost: true }), 'VolumeLost', false],
    ['somebody deletes its volume', withVolume({ leaving: true }), 'VolumeLeaving', false],
    ['it has no StatefulSet', without('statefulSet', 'pod'), 'NotStarted', true],
    ['it has no pod', without('pod'), 'PodMissing', true],
    ['its pod is terminating', withPod({ leaving: true }), 'PodLeaving', true],
    ['its pod finds no node', withPod({ ready: false, unscheduled: 'Unschedulable' }), 'PodUnscheduled', true],
    [
      'its image cannot be pulled',
      all(waiting, withContainer({ reason: 'ImagePullBackOff' })),
      'ImageUnavailable',
      false,
    ],
    [
      'its image has no valid name',
      all(waiting, withContainer({ reason: 'InvalidImageName' })),
      'ImageUnavailable',
      false,
    ],
    [
      'its container cannot be made',
      all(waiting, withContainer({ reason: 'CreateContainerConfigError' })),
      'ContainerCannotStart',
      false,
    ],
    ['it exits again and again', crashing, 'MemberKeepsExiting', false],
    [
      'it has exited once',
      all(crashing, withContainer({ state: 'terminated', reason: 'Error', restarts: 0 })),
      'MemberExited',
      true,
    ],
    ['it starts', all(withPod({ ready: false }), withEndpoint(silent)), 'MemberStarting', true],
    ['its pod has an older template', withPod({ upToDate: 'no' }), 'PodOutdated', true],
    ['etcd does not answer', withEndpoint({ kind: 'unknown', cause: 'refused' }), 'EndpointSilent', true],
    [
      'etcd turns our certificate away',
      withEndpoint({ kind: 'unknown', cause: 'unknown authority', tls: 'ClientCertificateRefused' }),
      'ClientCertificateRefused',
      true,
    ],
    ['it knows no leader', withEndpoint(endpoint(1, { leader: '0' })), 'NoLeader', true],
    ['it follows a leader that does not answer', withEndpoint(endpoint(1, { leader: 'ff' })), 'NoLeader', true],
    [
      'it lags far behind',
      withEndpoint(endpoint(1, { raftIndex: 1n, raftAppliedIndex: -9000n })),
      'MemberLagging',
      true,
    ],
    ['it was removed', withEndpoint(endpoint(1)), 'NotAMember', false],
  ] as const) {
    test(`${what}: ${reason}, which ${passing ? 'passes by itself' : 'needs a person'}`, () => {
      const removed = reason === 'NotAMember';
      const observation = healthy(3, {
        slots: { 1: change },
        ...(removed && { membership: { ...members(3), members: members(3).members.filter(({ id }) => id !== 'a1') } }),
      });
      const ailment = ailmentOf(observation.slots[1] ?? assert.fail(), observation);
      assert.equal(ailment?.reason, reason);
      assert.equal(ailment?.passing, passing);
      assert.match(ailment?.message ?? '', /orders-1/);
      assert.ok(passing || ailment?.cure !== '', 'what needs somebody has a cure');
    });
  }

  test('a template that its controller has not seen yet is no ailment', () => {
    const observation = healthy(3, { slots: { 1: withPod({ upToDate: 'unknown' }) } });
    assert.equal(ailmentOf(observation.slots[1] ?? assert.fail(), observation), undefined);
  });

  test('without a quorum no member is healthy', () => {
    const observation = healthy(3, { membership: noQuorum('timed out') });
    assert.equal(ailmentOf(observation.slots[0] ?? assert.fail(), observation)?.reason, 'NoQuorum');
  });

  test('what it last said is passed on', () => {
    const observation = healthy(3, { slots: { 1: all(crashing, withContainer({ lastWords: 'permission denied' })) } });
    assert.match(ailmentOf(observation.slots[1] ?? assert.fail(), observation)?.message ?? '', /permission denied/);
  });
});

describe('the member that a slot stands for', () => {
  const [first] = healthy(3).slots;
  assert.ok(first);

  test('is the one whose ID is on its volume, even when a namesake is listed', () => {
    const listed = members(3).members.map((member) => ({ ...member, name: 'orders-0' }));
    assert.equal(memberOf(first, listed)?.id, 'a0');
  });

  test('is none when that ID was removed, even when a namesake is listed', () => {
    const listed = members(3).members.map((member) => ({ ...member, id: `b${member.id}` }));
    assert.equal(memberOf(first, listed), undefined);
  });

  test('is the one with its peer URL before it has an ID, also while it has no name', () => {
    const listed = members(3).members.map((member) => ({ ...member, name: '' }));
    assert.equal(memberOf(all(unsealed, withEndpoint(silent))(first), listed)?.id, 'a0');
  });
});

describe('down on its configuration', () => {
  const [first] = healthy(1).slots;
  assert.ok(first);
  for (const [what, change, expected] of [
    ['runs', (slot: typeof first) => slot, false],
    ['is being made', waiting, false],
    ['has no pod', without('pod'), false],
    ['crashes', crashing, true],
    ['cannot be pulled', all(waiting, withContainer({ reason: 'ErrImagePull' })), true],
    ['crashes, and is on its way out', all(crashing, withPod({ leaving: true })), false],
  ] as const) {
    test(`a member that ${what}: ${expected}`, () => assert.equal(isDownOnItsConfiguration(change(first)), expected));
  }
});
