import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { hasRunHigher, mayGoBackTo } from '../../../reconcile/cluster/know/versions/versions-run.ts';
import {
  all,
  endpoint,
  healthy,
  silent,
  waiting,
  withEndpoint,
  withInputs,
  without,
  withPod,
  withRecord,
} from './observations.ts';

const told = all(
  withEndpoint(silent),
  withRecord({ version: '3.5.35', nextVersion: '3.6.16' }),
  withInputs({ version: '3.6.16' }),
);
const ran = all(told, withPod({ version: '3.6.16' }));
const leaving = withPod({ leaving: true });

/** Whether who ran 3.6 may go back to 3.5 beside another one like this. */
function goesBackBeside(other: (slot: Slot) => Slot): boolean {
  const { cluster, slots } = healthy(2, { slots: { 0: ran, 1: all(told, other) } });
  return mayGoBackTo('3.5.35', { cluster, slots });
}

describe('a member goes back to the minor below beside another one that never left that', () => {
  for (const [what, other, expected] of [
    [
      'and runs it, whatever its template says',
      all(withPod({ version: '3.5.35' }), withEndpoint(endpoint(1, { version: '3.5.35' }))),
      true,
    ],
    ['but may start on the higher one at any moment', all(waiting, withPod({ version: '3.6.16' })), false],
    ['but has no pod, and is told to start on the higher one', without('pod'), false],
    ['whose pod ends, and which is told to start on the higher one', all(waiting, leaving), false],
    ['and whose next pod has it', all(withInputs({ version: '3.5.35' }), withTemplate, without('pod')), true],
    ['while its template may say the higher one', all(withInputs({ version: '3.5.35' }), without('pod')), false],
    [
      'whose pod of the higher one ends without having started',
      all(waiting, withPod({ version: '3.6.16' }), leaving, withInputs({ version: '3.5.35' }), withTemplate),
      true,
    ],
    ['not beside one that ran the higher one too', withPod({ version: '3.6.16' }), false],
  ] as const) {
    test(`${what}: ${expected ? 'yes' : 'no'}`, () => assert.equal(goesBackBeside(other), expected));
  }
});

describe('a pod that another client gave a version beyond the next minor', () => {
  const given = all(withRecord({ version: '3.5.35' }), withPod({ version: '3.7.3' }));
  for (const [what, slot, expected] of [
    ['has not run it: its data do not follow', all(given, withEndpoint(silent)), false],
    ['has run it, where it answers', all(given, withEndpoint(endpoint(1, { version: '3.7.3' }))), true],
    [
      'has run it, where it had no data',
      all(given, withEndpoint(silent), withRecord({ state: 'bootstrapping' })),
      true,
    ],
  ] as const) {
    test(what, () => {
      const [member] = healthy(1, { every: slot }).slots;
      assert.equal(member && hasRunHigher(member, '3.6.16'), expected);
    });
  }
});

/** The StatefulSet has what the peer was told. */
function withTemplate(slot: Slot): Slot {
  if (!slot.peer || !slot.statefulSet) return slot;
  return { ...slot, statefulSet: { ...slot.statefulSet, inputsHash: inputsHash(slot.peer.inputs) } };
}
