import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { bootstrapVariables } from '../../../manifests/render/bootstrap-variables.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import {
  all,
  clusterId,
  crashing,
  type Differences,
  healthy,
  memberId,
  recordFor,
  silent,
  unsealed,
  waiting,
  withEndpoint,
  without,
  withPod,
  withRecord,
  withVolume,
} from './observations.ts';

const lost = all(without('volume', 'pod'), withEndpoint(silent));
const onDeadNode = all(withPod({ leaving: true, ready: false }), withEndpoint(silent));

interface Given {
  readonly given?: string;
  readonly since?: string;
  readonly mode?: 'Automatic' | 'Manual';
}

/** Of three members, those with these ordinals are unhealthy for ten minutes; a person has given that. */
function seen(slots: Readonly<Record<number, (slot: Slot) => Slot>>, { given, since, mode }: Given = {}, size = 3) {
  const down = Object.keys(slots).map((ordinal) => ({
    name: `orders-${ordinal}`,
    healthy: false,
    unhealthySince: since ?? '2026-01-02T02:54:05Z',
  }));
  const differences: Differences = {
    slots,
    spec: { healing: { mode: mode ?? 'Manual' } },
    status: { observedGeneration: 1, members: down },
    ...(given !== undefined && { metadata: { annotations: { [annotations.replaceMember]: given } } }),
  };
  return healthy(size, differences);
}

function askedIn(decision: Decision): string {
  assert.deepEqual([decision.kind, decision.reason], ['refuse', 'HealingHeld'], decision.message);
  return (decision.kind === 'refuse' && decision.approval?.value) || assert.fail();
}

/** A member whose volume and peer are recorded, beside so many others. */
function joining(others: number): Slot {
  const { memberId: _, ...record } = { ...recordFor(others, others + 1), state: 'joining' as const };
  const slot = healthy(others + 1).slots[others] ?? assert.fail();
  const recorded = all(without('statefulSet', 'pod'), withRecord(record), withEndpoint(silent))(slot);
  const { ETCD_INITIAL_CLUSTER: initialCluster, ETCD_INITIAL_CLUSTER_STATE: initialClusterState } = bootstrapVariables(
    record,
    recorded.name,
  );
  const configMap = recorded.configMap && { ...recorded.configMap, initialCluster, initialClusterState };
  return { ...recorded, ...(configMap && { configMap }) };
}

const asked = (slots: Parameters<typeof seen>[0], given?: Given, size = 3) => askedIn(decide(seen(slots, given, size)));

describe('healing by hand', () => {
  test('only Manual holds a replacement: by default, and with Automatic, it begins', () => {
    assert.equal(decide(seen({ 1: lost }, { mode: 'Automatic' })).reason, 'ReplacingMember');
    const { spec: _, ...observed } = seen({ 1: lost }).cluster;
    const byDefault = { ...seen({ 1: lost }), cluster: { ...observed, spec: { ..._, healing: {} } } };
    assert.equal(decide(byDefault).reason, 'ReplacingMember');
    assert.equal(decide(seen({ 1: lost })).reason, 'HealingHeld');
  });

  test('within the grace period the message says that a person is asked afterwards', () => {
    const decision = decide(seen({ 1: lost }, { since: '2026-01-02T03:04:00Z' }));
    assert.equal(decision.reason, 'MemberDown');
    assert.match(decision.message, /a person is asked whether it is replaced/);
  });

  test('the approval names the member by its ID, what is lost, and what becomes of its volume', () => {
    const of = (change: (slot: Slot) => Slot) => {
      const decision = decide(seen({ 1: change }));
      return decision.kind === 'refuse' ? decision : assert.fail();
    };
    assert.match(
      of(lost).approval?.approves ?? '',
      new RegExp(`^orders-1 \\(${memberId(1)}\\) is removed .*${clusterId}`),
    );
    assert.match(of(lost).approval?.loses ?? '', /^nothing that would stay: the volume of orders-1 is gone/);
    assert.match(of(onDeadNode).approval?.loses ?? '', /^what only orders-1 holds: .* is deleted 24h after/);
    assert.match(of(onDeadNode).cure, /bring orders-1 back .* or approve .*: kubectl .*replace-member=\S+$/);
  });

  test('only exactly what is asked for counts', () => {
    const right = asked({ 1: onDeadNode });
    const others = [
      asked({ 2: onDeadNode }),
      asked({ 1: onDeadNode }, { since: '2026-01-02T02:54:04Z' }),
      right.toUpperCase().replace('C1C1', 'c1c1'),
      ` ${right}`,
      `${right} `,
      `${right}\n`,
      `${right}.${right}`,
      right.slice(0, -1),
      right.replace('/', '∕'),
      `another/${right.split('/')[1]}`,
      clusterId,
      memberId(1),
      '*',
      'true',
      '',
      '__proto__',
      'x'.repeat(100_000),
    ];
    assert.ok(!others.includes(right));
    for (const given of others) {
      const decision = decide(seen({ 1: onDeadNode }, { given }));
      assert.equal(askedIn(decision), right, given.slice(0, 80));
      assert.match(decision.message, /the present approval .* is for another member, or for an earlier failure$/);
      assert.ok(decision.message.length < 1000);
    }
    assert.equal(decide(seen({ 1: onDeadNode }, { given: right })).reason, 'ReplacingMember');
  });

  test('a time in the status that is none is no obstacle: it is bound to the text', () => {
    for (const since of ['2016-12-31T23:59:60Z', 'soon', '']) {
      const corrupt = { ...seen({ 1: onDeadNode }, { since }) };
      assert.doesNotThrow(() => decide(corrupt), since);
    }
  });

  test('an approval of another kind with the same value counts for nothing', () => {
    const right = asked({ 1: onDeadNode });
    const given = { [annotations.recoverQuorum]: right, [annotations.acceptDisks]: right, [annotations.adopt]: right };
    const observation = seen({ 1: onDeadNode });
    const metadata = { ...observation.cluster.metadata, annotations: given };
    askedIn(decide({ ...observation, cluster: { ...observation.cluster, metadata } }));
  });

  test('of two that are lost the approved one is replaced, and the other one is asked about next', () => {
    const [first, third] = [asked({ 1: onDeadNode }, {}, 5), asked({ 3: onDeadNode }, {}, 5)];
    const both = { 1: onDeadNode, 3: onDeadNode };
    assert.equal(asked(both, {}, 5), first);
    const decision = decide(seen(both, { given: third }, 5));
    assert.match(decision.message, /^recording orders-5 as the replacement of orders-3/);
  });

  test('the removal carries the approval, and is held as well where that was taken back', () => {
    const given = asked({ 1: onDeadNode });
    const comes = joining(3);
    const disruptionBudget = { state: 'present' as const, minAvailable: 3 };
    const withNext = (observation: ReturnType<typeof seen>) => ({
      ...observation,
      slots: [...observation.slots, comes],
      shared: { ...observation.shared, disruptionBudget },
    });
    assert.partialDeepStrictEqual(decide(withNext(seen({ 1: onDeadNode }, { given }))), {
      reason: 'RemovingDeadMember',
      action: { kind: 'remove-member', name: 'orders-1', approval: given },
    });
    assert.equal(askedIn(decide(withNext(seen({ 1: onDeadNode })))), given);
    const automatic = decide(withNext(seen({ 1: onDeadNode }, { given, mode: 'Automatic' })));
    assert.ok(automatic.kind === 'act' && !('approval' in automatic.action), 'none is asked for');
  });

  test('a removal that was begun is finished without an approval', () => {
    const begun = all(onDeadNode, withRecord({ state: 'releasing' }));
    const decision = decide(seen({ 1: begun }));
    assert.equal(decision.reason, 'RemovingMember');
    assert.match(decision.message, /^finishing the removal of orders-1/);
  });

  test('while the others are no healthy quorum, it is not even asked', () => {
    for (const given of [undefined, asked({ 1: onDeadNode })]) {
      const decision = decide(seen({ 1: onDeadNode, 2: onDeadNode }, given === undefined ? {} : { given }));
      assert.notEqual(decision.reason, 'HealingHeld');
      assert.notEqual(decision.kind, 'act');
    }
  });

  test('while it is held nothing is changed, and what else a person must do is told', () => {
    const observation = seen({ 1: onDeadNode });
    const spec = { ...observation.cluster.spec, version: '3.7.3', replicas: 5, etcd: { snapshotCount: 5000 } };
    const decision = decide({ ...observation, cluster: { ...observation.cluster, spec } });
    askedIn(decision);
    const smaller = { ...observation.cluster.spec, storage: { size: '1Mi' } };
    const told = decide({ ...observation, cluster: { ...observation.cluster, spec: smaller } });
    askedIn(told);
    assert.ok(
      told.besides?.some(({ reason }) => reason === 'VolumeShrinkRefused'),
      JSON.stringify(told.besides),
    );
  });

  test('a serving member whose PVC is being deleted is outlived without an approval', () => {
    assert.equal(decide(seen({ 1: withVolume({ leaving: true }) })).reason, 'ReplacingMember');
  });
});

describe('whatever becomes of the members', () => {
  const fates = {
    well: (slot: Slot) => slot,
    lost,
    onDeadNode,
    exits: all(crashing, withEndpoint(silent)),
    starts: all(waiting, withEndpoint(silent)),
    outdated: withPod({ upToDate: 'no' }),
    goesWithItsVolume: withVolume({ leaving: true }),
    releasing: all(onDeadNode, withRecord({ state: 'releasing' })),
    unsealed,
  } as const;
  const fate = fc.oneof(
    { weight: 3, arbitrary: fc.constant('well' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(fates) as (keyof typeof fates)[])) },
  );
  const stories = fc.record({
    fate: fc.array(fate, { minLength: 1, maxLength: 5 }),
    replicas: fc.integer({ min: 0, max: 6 }),
    comes: fc.boolean(),
  });
  type Story = typeof stories extends fc.Arbitrary<infer S> ? S : never;

  function observed({ fate: each, replicas, comes }: Story, mode: 'Automatic' | 'Manual', given?: string): Observation {
    const slots = Object.fromEntries(each.map((word, ordinal) => [ordinal, fates[word]]));
    const observation = seen(slots, { mode, ...(given !== undefined && { given }) }, each.length);
    const { cluster } = observation;
    const more = comes ? [joining(each.length)] : [];
    const minAvailable = Math.floor(each.length / 2) + 1;
    return {
      ...observation,
      slots: [...observation.slots, ...more],
      shared: { ...observation.shared, disruptionBudget: { state: 'present', minAvailable } },
      cluster: { ...cluster, spec: { ...cluster.spec, replicas } },
    };
  }

  function withoutApproval(decision: Decision): unknown {
    if (decision.kind !== 'act' || decision.action.kind !== 'remove-member') return decision;
    const { approval: _, ...action } = decision.action;
    return { ...decision, action };
  }

  test('Manual gives up no voter unasked, holds nothing else, and goes on once approved', () => {
    const held = new Set<string>();
    const healing = ['ReplacingMember', 'RemovingDeadMember'];
    fc.assert(
      fc.property(stories, (story) => {
        const [automatic, manual] = [decide(observed(story, 'Automatic')), decide(observed(story, 'Manual'))];
        assert.notEqual(manual.reason, 'RemovingDeadMember');
        // In `MemberDown` the message says what comes after the grace period.
        if (!isDeepStrictEqual(automatic, manual)) assert.ok([...healing, 'MemberDown'].includes(automatic.reason));
        const told = [manual, ...(manual.besides ?? [])].find(({ reason }) => reason === 'HealingHeld');
        if (!told) return;
        const { value } = ('approval' in told && told.approval) || assert.fail('it asks for no approval');
        held.add(automatic.reason);
        const approved = decide(observed(story, 'Manual', value));
        assert.deepEqual(withoutApproval(approved), decide(observed(story, 'Automatic', value)));
      }),
      { numRuns: 2000 },
    );
    assert.deepEqual([...held].toSorted(), healing.toSorted());
  });
});
