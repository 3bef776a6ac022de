import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide, rules } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  crashing,
  healthy,
  members,
  noQuorum,
  prepared,
  starting,
  unborn,
  unsealed,
  without,
  withPod,
  withVolume,
} from './observations.ts';

const reasonOf = (observation: Observation) => decide(observation).reason;
const deleted = { deletionTimestamp: '2026-01-02T03:00:00Z' };

test('the order of the rules is the safety policy', () => {
  assert.deepEqual(
    rules.map(({ name }) => name),
    [
      'awaitLease', // two steps are never decided from one observation,
      'finishDeletion', // a person's deletion comes before all that would build something up,
      'staySuspended', // a suspended cluster is touched by deletion only,
      'awaitLeftovers', // nothing starts beside what an earlier namesake left,
      'holdFinalizer', // what is to be deleted later is held before it is made,
      'keepLabels', // what is not labelled may be missed by all that goes by lists,
      'keepTemplates', // what another client wrote is put back before a rule relies on it,
      'barOtherDisks', // nothing runs on a disk that has forgotten what its member acknowledged,
      'supportMembers', // what members stand on needs no quorum,
      'keepConfigMaps', // nor do the settings that it starts with
      'rollBack', // data to go back to are there before what is served is given up,
      'beBorn', // nothing starts before everything is recorded,
      'sleep', // what hibernates is neither adopted nor healed,
      'adopt', // data that is there is taken up before anything is changed,
      'provideCertificates', // a member that starts can prove who it is; renewal waits for no quorum,
      'beginFromSnapshot', // what a birth is made of is there before its member starts,
      'recoverQuorum', // what was approved is finished before anybody else is started,
      'runMembers',
      'cureConfiguration', // what does not run has nothing to lose,
      'keepIdentity', // where etcd has answered, it is the right one,
      'seal', // before anything else is done to a member that has started,
      'finishRemoval', // a removal that was begun is finished before membership changes again,
      'takeBack', // so is one that never started: who was not born is no part of what all must agree on,
      'judgeCorruption', // nobody is healed, and nothing made of data that differ, before it is known whose are right,
      'freeSpace', // who takes no writes is nobody's cluster; with a quorum, and everybody well,
      'enlargeVolumes', // a full disk is cured without quorum, and a class that refuses stops nothing above,
      'keepRequesting', // cert-manager may refuse, and that must stop nothing above,
      'blameCertificates', // silence that has a known cause is not waited through,
      'reloadAuthorities', // nor that of members who trust nobody any more,
      'anotherDisk', // a member that may have forgotten what it acknowledged is no way back to a quorum before a person says so,
      'awaitQuorum', // below this line etcd has answered,
      'unstickPod', // what does not run for no known reason is tried once more,
      'outliveVolume', // who still serves is replaced before it is lost,
      'heal', // then replaced, while the others are a quorum,
      'dropInherited', // so are those of another origin, as a person approved,
      'letRemovedGo',
      'dropLearner', // a learner that comes to nothing holds up nobody for ever,
      'join', // so is who has begun to join: it holds up nobody who has a vote,
      'finishRolling', // a member left half-rolled is finished before anything else is begun,
      'gate', // below this line every member is healthy,
      'knowDisks', // so what is behind its claim is what it was sealed on,
      'raiseQuota', // an outage ends before what can wait,
      'takeOver', // until those of another origin have left, nothing else changes,
      'keepAuth', // what a commit takes from a user waits for nothing that an upgrade waits for,
      'backUpBeforeHibernation', // of members that run,
      'hibernate', // what is to stop is changed after it has woken,
      'shrinkFirst', // nobody is started anew who is to leave anyway,
      'takeNames', // all volumes say which certificates are let in, before a member restarts for it,
      'dropOldAuthorities', // what is over for both CAs costs each member one restart, not two,
      'backUpFirst', // and what the lower version wrote is kept,
      'upgrade', // the version alone comes first, so that whatever goes wrong has one cause,
      'rollConfiguration', // one member at a time,
      'renewAuthorities',
      'keepIntermediate', // no CA goes while somebody is away who could not follow,
      'lackSpace', // what makes the quota larger has been tried,
      'grow', // members come and go when nothing else is left to change about those that are there,
      'shrink',
      'defragment', // who answers nobody for a while does so when nothing else is to be done,
      'deleteReplaced', // what nobody needs any more goes when nothing else is to be done,
      'nameWhatIsLeft', // what storage drivers take their time for holds up nothing else,
      'converged',
    ],
  );
});

describe('when several things are to be done at once', () => {
  for (const [what, observation, reason] of [
    [
      'a claim of somebody else keeps even a deletion waiting',
      healthy(3, { metadata: deleted, lease: { kind: 'held', holder: 'a/b', until: new Date(0) } }),
      'AnotherInvocationActs',
    ],
    ['a suspended cluster can be deleted', healthy(3, { metadata: deleted, spec: { suspend: true } }), 'BeingDeleted'],
    ['a suspended cluster is not even born', unborn(3, { spec: { suspend: true } }), 'Suspended'],
    [
      'leftovers are waited for before anything is made',
      unborn(3, { shared: { headlessService: { state: 'leftover' } } }),
      'OldObjectsLeaving',
    ],
    [
      'the finalizer is there before the first volume',
      unborn(3, { spec: { volumeRetention: { whenDeleted: 'Delete' } } }),
      'SettingFinalizer',
    ],
    [
      'the headless Service is put back before all that goes by member names',
      prepared(3, { shared: { headlessService: { state: 'missing' } } }),
      'ApplyingServices',
    ],
    [
      'a full disk is cured while nothing runs',
      healthy(3, { spec: { storage: { size: '2Gi' } }, membership: noQuorum('full'), every: crashing }),
      'GrowingVolumes',
    ],
    [
      'a member that is not recorded keeps the recorded ones from starting',
      prepared(3, { gone: [2] }),
      'PreparingMembers',
    ],
    ['all recorded: all start', prepared(3), 'StartingMembers'],
    [
      'a cure reaches a cluster without quorum',
      healthy(3, { spec: { etcd: { snapshotCount: 5000 } }, membership: noQuorum('down'), every: crashing }),
      'CuringConfiguration',
    ],
    ['without a quorum nothing is sealed', starting(3), 'WaitingForQuorum'],
    [
      'nothing is sealed under the cluster ID of another cluster',
      healthy(3, { slots: { 2: unsealed }, membership: { ...members(3), clusterId: 'd2d2' } }),
      'ClusterIDMismatch',
    ],
    [
      'a started member is sealed although another is down',
      healthy(3, { slots: { 1: unsealed, 2: all(crashing) } }),
      'SealingMembers',
    ],
    [
      'the size of a cluster changes only while every member is healthy',
      healthy(3, { spec: { replicas: 5 }, slots: { 1: withPod({ ready: false }) } }),
      'MemberStarting',
    ],
    ['more members', healthy(3, { spec: { replicas: 5 } }), 'PreparingMember'],
    ['fewer members', healthy(3, { spec: { replicas: 1 } }), 'RemovingMember'],
    ['a cluster with nothing to do has converged', healthy(3), 'Converged'],
    [
      'a volume that has not grown yet is waited for',
      healthy(3, { slots: { 1: withVolume({ growing: { phase: 'Resizing', message: '', infeasible: false } }) } }),
      'AwaitingVolumeGrowth',
    ],
    [
      'a volume whose driver has given up is a case for a person',
      healthy(3, {
        slots: {
          1: withVolume({ growing: { phase: 'NodeResizeInfeasible', message: 'too large', infeasible: true } }),
        },
      }),
      'VolumeCannotGrow',
    ],
    [
      'nothing else waits for a volume that grows',
      healthy(3, {
        spec: { replicas: 5 },
        slots: { 1: withVolume({ growing: { phase: 'Resizing', message: '', infeasible: false } }) },
      }),
      'PreparingMember',
    ],
    [
      'a refused downgrade does not keep a volume from growing',
      healthy(3, { spec: { version: '3.5.35', storage: { size: '2Gi' } } }),
      'GrowingVolumes',
    ],
    [
      'a refused downgrade does not keep members from starting',
      prepared(3, { spec: { version: '3.5.35' }, slots: { 0: without('pod') } }),
      'StartingMembers',
    ],
    [
      'a member whose volume is being deleted is replaced before it is lost',
      healthy(3, { slots: { 1: withVolume({ leaving: true }) } }),
      'ReplacingMember',
    ],
  ] as const) {
    test(`${what}: ${reason}`, () => assert.equal(reasonOf(observation), reason));
  }
});

test('deciding twice from one observation gives one decision', () => {
  for (const observation of [unborn(3), prepared(3), starting(3), healthy(3), healthy(1)]) {
    assert.deepEqual(decide(observation), decide(structuredClone(observation)));
  }
});
