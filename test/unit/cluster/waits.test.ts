import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { act, type Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Outcome } from '../../../reconcile/cluster/know/outcome.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { named } from '../../../reconcile/reasons/waits.ts';
import { observations } from './arbitrary.ts';
import {
  all,
  endpoint,
  healthy,
  noQuorum,
  prepared,
  silent,
  withContainer,
  withEndpoint,
  withPod,
} from './observations.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const none: Outcome = { kind: 'none' };

/** The next look, when what was decided was reported, and nothing but time has passed. */
function later(observation: Observation, decision: Decision, by: number, outcome: Outcome = none): Observation {
  const status = statusFor(situate(observation), decision, outcome);
  const at = new Date(observation.at.getTime() + by);
  return { ...observation, at, cluster: { ...observation.cluster, status } };
}

/** Every etcd answers, and none hears another. */
const apart = healthy(3, {
  every: (slot) => withEndpoint(endpoint(slot.ordinal, { leader: '0' }))(withPod({ ready: false })(slot)),
  membership: noQuorum('no quorum answers'),
});
const step = act({ kind: 'start-members', peers: ['orders-0'] }, 'StartingMembers', 'orders-0 starts');

describe('a wait', () => {
  test('for members that run and cannot hear each other is a person’s after their grace', () => {
    const first = decide(apart);
    assert.equal(first.kind, 'wait');
    const early = decide(later(apart, first, 9 * minute));
    assert.equal(early.kind, 'wait');
    const after = later(later(apart, first, 9 * minute), early, 1 * minute);
    const said = decide(after);
    assert.deepEqual([said.kind, said.reason], ['refuse', 'NoQuorum']);
    assert.match(said.kind === 'refuse' ? said.cure : '', /reach each other: .*port 2380/);
    const status = statusFor(situate(after), said, none);
    assert.deepEqual(
      (status.conditions ?? []).filter(({ type }) => type === 'Stalled').map(({ reason }) => reason),
      ['NoQuorum'],
    );
    assert.equal(decide(later(after, said, 3 * day)).kind, 'refuse', 'and stays one');
  });

  test('for members that run is no person’s to cure while another one still starts', () => {
    const starting = (seen: Observation): Observation => {
      const container = { state: 'running', restarts: 0, startedAt: seen.at, startupMs: 60 * minute } as const;
      const change = all(withEndpoint(silent), withPod({ ready: false }), withContainer(container));
      return { ...seen, slots: seen.slots.map((slot) => (slot.ordinal === 2 ? change(slot) : slot)) };
    };
    const first = starting(apart);
    const after = later(first, decide(first), 11 * minute);
    assert.equal(decide(after).kind, 'wait', decide(after).reason);
  });

  test('is one wait while another member is told at each look, and begins anew after a step', () => {
    const since = (seen: Observation) => seen.cluster.status?.lastDecision?.waitingSince;
    const silentToo = (seen: Observation): Observation => ({
      ...seen,
      slots: seen.slots.map((slot) => withEndpoint(silent)(slot)),
    });
    const first = later(apart, decide(apart), minute);
    const second = later(silentToo(first), decide(silentToo(first)), minute);
    assert.equal(since(second), since(first) ?? assert.fail('it does not wait'));
    const stepped = later(second, step, minute, { kind: 'acted' });
    assert.equal(since(stepped), undefined);
    assert.notEqual(since(later(stepped, decide(stepped), minute)), since(first));
  });

  test('for a window lasts as long as the window is shut', () => {
    const maintenance = { windows: [] };
    let seen = healthy(3, { spec: { etcd: { snapshotCount: 5000 }, maintenance } });
    for (let days = 0; days < 30; days += 1) {
      const decision = decide(seen);
      assert.deepEqual([decision.kind, decision.reason], ['wait', 'OutsideWindows']);
      seen = later(seen, decision, day);
    }
  });

  test('is told as an action that fails for an hour, whatever may pass', () => {
    const failed: Outcome = {
      kind: 'failed',
      failure: { class: 'retryable', reason: 'InternalError', message: 'POST statefulsets: 500' },
    };
    const told = (seen: Observation) => {
      const status = statusFor(situate(seen), decide(seen), failed);
      return status.conditions?.find(({ type }) => type === 'Stalled')?.reason;
    };
    const early = later(prepared(3), decide(prepared(3)), 59 * minute, failed);
    assert.equal(told(early), undefined);
    assert.equal(told(later(early, decide(early), minute, failed)), 'ProgressingWithRetry');
  });
});

test('whatever is observed, no wait lasts for days, but for a cause that is named', () => {
  fc.assert(
    fc.property(observations, (observation) => {
      let seen = observation;
      for (let days = 0; days < 6; days += 1) {
        const decision = decide(seen);
        if (decision.kind !== 'wait' || Object.hasOwn(named, decision.reason)) return;
        seen = later(seen, decision, day);
      }
      const { kind, reason, message } = decide(seen);
      assert.notEqual(kind, 'wait', `${reason}: ${message}`);
    }),
    { numRuns: 2000, seed: randomInt(2 ** 31) },
  );
});
