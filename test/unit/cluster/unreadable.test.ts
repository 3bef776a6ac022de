import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetOf } from '../../../reconcile/cluster/act/act.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { simulate } from '../../../reconcile/cluster/foresee/simulate.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  crashing,
  type Differences,
  healthy,
  members,
  noQuorum,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withVolume,
} from './observations.ts';

/** The annotations of one volume of a cluster that is born can't be read. */

const unreadable = withVolume({
  record: { kind: 'invalid', problem: 'annotation etcd.ratchet.dev/token is missing; it should be letters' },
});
const gone = all(without('volume', 'configMap', 'pod'), withEndpoint(silent));
const longAgo = (...ordinals: readonly number[]) => ({
  observedGeneration: 3,
  clusterID: 'c1c1',
  members: ordinals.map((ordinal) => ({
    name: `orders-${ordinal}`,
    healthy: false,
    unhealthySince: '2026-01-02T01:00:00Z',
  })),
});
const isAbout = (decision: Decision, name: string) =>
  decision.kind === 'act' && (targetOf(decision.action)?.split(', ') ?? []).some((target) => target.startsWith(name));

/** Every decision until it rests. */
function decisionsFrom(observation: Observation, limit = 40): readonly Decision[] {
  const decisions: Decision[] = [];
  let seen = observation;
  for (let step = 0; step < limit; step += 1) {
    const decision = decide(seen);
    decisions.push(decision);
    if (decision.kind === 'refuse' || decision.kind === 'done') break;
    const next = simulate(seen, decision);
    if (next === seen) break;
    seen = { ...next, at: new Date(next.at.getTime() + 60_000) };
  }
  return decisions;
}

describe('where the annotations of one volume can not be read', () => {
  test('and a quorum answers, another member that is lost is replaced to the end', () => {
    const observation = healthy(3, { slots: { 1: unreadable, 2: gone }, status: longAgo(2) });
    const decisions = decisionsFrom(observation);
    const story = decisions.map((one) => `${one.kind} ${one.reason}: ${one.message}`).join('\n');
    assert.deepEqual(
      decisions.filter((one) => isAbout(one, 'orders-1')),
      [],
      story,
    );
    assert.ok(
      decisions.some(({ message }) => message.endsWith('; then it becomes a voter')),
      story,
    );
    assert.partialDeepStrictEqual(decisions.at(-1), { kind: 'refuse', reason: 'VolumeRecordUnreadable' }, story);
  });

  test('the annotation, the PVC and the cure are told, and no change is begun', () => {
    const decision = decide(healthy(3, { slots: { 1: unreadable }, spec: { replicas: 5, version: '3.6.17' } }));
    assert.partialDeepStrictEqual(decision, { kind: 'refuse', reason: 'VolumeRecordUnreadable' });
    assert.match(decision.message, /PersistentVolumeClaim orders-1 .*etcd\.ratchet\.dev\/token is missing/);
    assert.match(decision.kind === 'refuse' ? decision.cure : '', /restore the etcd.ratchet.dev\/ annotations/);
  });

  test('and no quorum answers, nothing is done at all', () => {
    for (const slots of [{ 1: unreadable }, { 1: unreadable, 2: gone }, { 1: all(unreadable, gone), 2: gone }]) {
      const decision = decide(healthy(3, { slots, membership: noQuorum('none'), status: longAgo(1, 2) }));
      if (slots[1] === unreadable) assert.equal(decision.reason, 'VolumeRecordUnreadable');
      assert.notEqual(decision.kind, 'act', decision.reason);
    }
  });

  test('and another cluster answers, nothing is done at all', () => {
    const membership = { ...members(3), clusterId: 'd2d2' };
    assert.equal(decide(healthy(3, { slots: { 1: unreadable }, membership })).reason, 'VolumeRecordUnreadable');
  });

  const ills: Readonly<Record<string, (slot: Slot) => Slot>> = {
    'is gone': all(without('pod'), withEndpoint(silent)),
    'is not started': all(without('statefulSet', 'pod'), withEndpoint(silent)),
    'hangs in its start': all(
      withPod({ ready: false }),
      withContainer({ state: 'waiting', reason: 'ContainerCreating' }),
      withEndpoint(silent),
    ),
    'keeps exiting': all(crashing, withEndpoint(silent)),
    'is on its way out': all(withVolume({ leaving: true })),
    'has lost its disk': all(withVolume({ lost: true }), withEndpoint(silent)),
    'lost its labels': all(withVolume({ unlabelled: true })),
    'has an old template': withPod({ upToDate: 'no' }),
    'has another configuration': withInputs({ version: '3.6.15' }),
    'has no peer': all(without('peer', 'statefulSet', 'pod'), withEndpoint(silent)),
  };
  for (const [what, ill] of Object.entries(ills)) {
    test(`and its member ${what}, nothing is done to it, and another lost one is replaced`, () => {
      const rest = { 2: all(ill, unreadable) } satisfies Differences['slots'];
      const alone = decisionsFrom(healthy(5, { slots: rest, status: longAgo(2) }));
      const beside = decisionsFrom(healthy(5, { slots: { ...rest, 4: gone }, status: longAgo(2, 4) }));
      for (const decisions of [alone, beside]) {
        const story = decisions.map((one) => `${one.kind} ${one.reason}: ${one.message}`).join('\n');
        assert.ok(!decisions.some((one) => isAbout(one, 'orders-2')), story);
        const last = decisions.at(-1);
        const told = [last, ...(last?.besides ?? [])].some((one) => one?.reason === 'VolumeRecordUnreadable');
        assert.ok(told, story);
      }
      assert.ok(
        beside.some(({ reason }) => reason === 'ReplacingMember'),
        beside.map((one) => `${one.kind} ${one.reason}: ${one.message}`).join('\n'),
      );
    });
  }
});
