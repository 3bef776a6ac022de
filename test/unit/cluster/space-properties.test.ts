import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { ailmentOf, memberOf } from '../../../reconcile/cluster/know/health/health.ts';
import type { Observation, PeerView, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { observations } from './arbitrary.ts';
import { endpoint, healthy, withEndpoint, withPod } from './observations.ts';

/** What a volume of 1Gi can bear. */
const quota = 256 * 2 ** 20;
/** So many thousandths of it. */
const bytes = (thousandths: number) => BigInt(Math.ceil((thousandths * quota) / 1000));
const alarm = ['memberID:161 alarm:NOSPACE '];

/** Of each member: the file, and what it says is used of it. */
const sizes = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 1200 }), fc.integer({ min: 0, max: 1200 })).map(([a, b]) => ({
    size: Math.max(a, b),
    used: Math.min(a, b),
  })),
  { minLength: 9, maxLength: 9 },
);

/** Three members of such files are let write, defragmented, compacted. Chance alone misses one now and then. */
const roomy = { size: 100, used: 50 };
const bare = { size: 1000, used: 500 };
const full = { size: 1000, used: 1000 };

type Example = [Observation, File[], boolean];

const whole = healthy(3);
const peerless = { ...whole, slots: whole.slots.map((slot, index) => (index === 0 ? withoutPeer(slot) : slot)) };

/** As a removal that was begun leaves it: the member votes still. */
function withoutPeer({ peer: _, ...slot }: Slot): Slot {
  const { volume } = slot;
  if (volume?.record.kind !== 'valid') return slot;
  const record = { ...volume.record.record, state: 'superseded' } as const;
  return { ...slot, volume: { ...volume, record: { kind: 'valid', record } } };
}

interface File {
  size: number;
  used: number;
  defragmented?: PeerView['defragmented'];
}

const longAgo = new Date('2026-01-01T00:00:00Z');

function noted(slot: Slot, defragmented: PeerView['defragmented']): Slot {
  return slot.peer && defragmented ? { ...slot, peer: { ...slot.peer, defragmented } } : slot;
}

describe('whatever is observed while etcd is out of space', () => {
  test('a member is defragmented, compacted and let write only as it may be', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(observations, sizes, fc.boolean(), (any, databases, hasHistory) => {
        const slots = any.slots.map((slot, index): Slot => {
          const { size = 1, used = 1 } = databases[index] ?? {};
          if (slot.endpoint.kind === 'unknown') return slot;
          const told = { dbSize: bytes(size), dbSizeInUse: bytes(used), errors: alarm };
          return withPod({ quota })({
            ...slot,
            endpoint: { kind: 'known', status: { ...slot.endpoint.status, ...told } },
          });
        });
        const observation: Observation = { ...any, slots, hasHistory };
        const decision = decide(observation);
        if (decision.kind !== 'act') return;
        const { action } = decision;
        if (action.kind !== 'compact' && action.kind !== 'defragment-member' && action.kind !== 'disarm-alarm') return;
        reached.add(action.kind);
        const { membership } = observation;
        assert.ok(membership.kind === 'known');
        const voters = membership.members.filter(({ isLearner }) => !isLearner);
        for (const voter of voters) {
          const slot: Slot | undefined = slots.find((one) => memberOf(one, membership.members)?.id === voter.id);
          assert.equal(slot && ailmentOf(slot, observation), undefined, 'every voter is well');
          if (action.kind !== 'disarm-alarm') continue;
          assert.ok(
            slot?.endpoint.kind === 'known' && slot.endpoint.status.dbSize < bytes(900),
            'every database has room',
          );
        }
        if (action.kind === 'compact') assert.ok(hasHistory, 'there is something to forget');
        if (action.kind === 'defragment-member') {
          assert.ok(voters.some(({ id }) => id === action.memberId));
          assert.ok(voters.length === 1 || action.successor !== undefined, 'somebody else can lead');
        }
      }),
      {
        numRuns: 3000,
        examples: [
          ...[roomy, bare, full].map((one) => [healthy(3), Array(9).fill(one), true] satisfies Example),
          // A voter whose EtcdPeer is gone: the quota of the one that is full is unknown.
          [peerless, [bare, ...Array(8).fill(roomy)], true],
        ],
      },
    );
    assert.deepEqual([...reached].toSorted(), ['compact', 'defragment-member', 'disarm-alarm']);
  });

  test('it comes to an end: no member is asked twice, and history goes at most once', () => {
    const worlds = fc.record({
      members: fc.constantFrom(1, 3, 5),
      live: fc.integer({ min: 1, max: 1100 }),
      history: fc.integer({ min: 0, max: 600 }),
      // Whether the one that was asked for the compaction counts what it freed: on some runs it does not.
      counted: fc.boolean(),
      free: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 5, maxLength: 5 }),
    });
    fc.assert(
      fc.property(worlds, ({ members, live, history, counted, free }) => {
        const files: File[] = free
          .slice(0, members)
          .map((more) => ({ size: live + history + more, used: live + history }));
        let outcome = '';
        let left = history;
        const done: string[] = [];
        for (let step = 0; step < 12; step += 1) {
          const slots = Object.fromEntries(
            files.map(({ size, used, defragmented }, ordinal) => {
              const told = { dbSize: bytes(size), dbSizeInUse: bytes(used), errors: alarm };
              const change = (slot: Slot) => withPod({ quota })(withEndpoint(endpoint(ordinal, told))(slot));
              return [ordinal, (slot: Slot) => noted(change(slot), defragmented)];
            }),
          );
          const decision = decide({ ...healthy(members, { slots }), hasHistory: left > 0 });
          outcome = decision.kind === 'act' ? decision.action.kind : decision.kind;
          if (decision.kind !== 'act' || decision.action.kind === 'disarm-alarm') break;
          const { action } = decision;
          assert.ok(action.kind === 'compact' || action.kind === 'defragment-member', `${action.kind}`);
          done.push(action.kind === 'compact' ? 'compact' : action.name);
          if (action.kind === 'compact') {
            left = 0;
            // The leader counts what it freed; the others will.
            if (counted && files[0]) files[0].used = live;
          } else {
            const ordinal = Number(action.name.split('-')[1]);
            const size = live + left + 2;
            const vain = size < (files[ordinal]?.size ?? 0) ? 0 : 1;
            const { bareAt } = action;
            const mark = { at: longAgo, vain, ...(bareAt !== undefined && { bareAt: BigInt(bareAt) }) };
            files[ordinal] = { size, used: live + left, defragmented: mark };
          }
        }
        assert.equal(new Set(done).size, done.length, done.join());
        // Nobody is told that there is no room where there is.
        if (live <= 850) assert.equal(outcome, 'disarm-alarm', done.join());
      }),
      { numRuns: 2000 },
    );
  });
});
