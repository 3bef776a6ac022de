import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { grow } from '../../../reconcile/cluster/decide/rules/membership/scale.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { healthy, withContainer } from './observations.ts';

const { at } = healthy(1);

/** One more is asked for than there are; each has run for so many seconds, or for an unknown time. */
function growing(...ages: readonly (number | undefined)[]): Decision | undefined {
  const slots = Object.fromEntries(
    ages.map((age, ordinal) => [
      ordinal,
      withContainer(age === undefined ? {} : { startedAt: new Date(at.getTime() - age * 1000) }),
    ]),
  );
  return grow(situate(healthy(ages.length, { slots, spec: { replicas: ages.length + 1 } })));
}

describe('a member is added when etcd will take it', () => {
  for (const [what, ages, reason] of [
    ['all have run for long', [60, 60, 60], 'PreparingMember'],
    ['how long they have run is not known', [undefined, undefined, undefined], 'PreparingMember'],
    ['one of three has just started: a quorum of four is three', [60, 60, 2], 'MembersConnecting'],
    ['one of four has just started: a quorum of five is three', [60, 60, 60, 2], 'PreparingMember'],
    ['one of two has just started', [60, 6.4], 'MembersConnecting'],
    ['the same, a moment later', [60, 6.5], 'PreparingMember'],
    ['a single one has just started: it is connected to itself', [1], 'PreparingMember'],
    ['a node’s clock is an hour ahead', [60, -3600], 'PreparingMember'],
  ] as const) {
    test(what, () => assert.equal(growing(...ages)?.reason, reason));
  }

  test('it is looked again when that time is over', () => {
    const decision = growing(60, 2);
    assert.deepEqual(decision?.kind === 'wait' && decision.wakeOn, [{ on: 'time', afterSeconds: 4.5 }]);
  });
});
