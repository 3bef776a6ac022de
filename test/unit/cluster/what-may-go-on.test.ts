import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rules } from '../../../reconcile/cluster/decide/decide.ts';
import { keepRequesting } from '../../../reconcile/cluster/decide/rules/certificates/ask-cert-manager.ts';
import { holdFinalizer } from '../../../reconcile/cluster/decide/rules/deletion/hold-finalizer.ts';
import { gate } from '../../../reconcile/cluster/decide/rules/general/gate.ts';
import { finishRemoval } from '../../../reconcile/cluster/decide/rules/membership/finish-removal.ts';
import { unstickPod } from '../../../reconcile/cluster/decide/rules/membership/unstick-pod.ts';
import { finishRolling } from '../../../reconcile/cluster/decide/rules/rolling/finish-rolling.ts';
import { keepsAlive, passings } from '../../../reconcile/cluster/decide/what-may-go-on.ts';
import { type Decision, refuse } from '../../../reconcile/cluster/know/decision.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { healthy } from './observations.ts';

/** Which rules hold up all that stand below them, written down a second time: a row more or less is noticed. */

const names = (some: Iterable<(typeof rules)[number]>) => [...some].map(({ name }) => name).toSorted();

test('nothing below goes on past a person, a lease, or doubt whose data or whose list that is', () => {
  const holding = `awaitLease finishDeletion staySuspended awaitLeftovers beginFromSnapshot keepIdentity takeBack
    judgeCorruption anotherDisk awaitQuorum gate nameWhatIsLeft converged`;
  assert.deepEqual(names(rules.filter((rule) => !passings.has(rule))), holding.split(/\s+/).toSorted());
});

test('while a removal may still be applied no other member is added or removed (I2)', () => {
  const situation = situate(healthy(3));
  const refused: Decision = refuse('RemovalUnsafe', 'x', 'x');
  const held = passings.get(finishRemoval)?.(refused, situation)?.holds ?? [];
  const membership = 'outliveVolume heal dropInherited letRemovedGo dropLearner join finishRolling gate';
  assert.deepEqual(names(held), membership.split(' ').toSorted());
});

test('a rule that gets nothing says whether changes, waits and the gate depend on that', () => {
  const of = (rule: (typeof rules)[number]) =>
    passings.get(rule)?.(refuse('RemovalUnsafe', 'x', 'x'), situate(healthy(3)));
  assert.deepEqual(of(holdFinalizer), { holds: [], changesMayGoOn: false, inVain: false });
  assert.deepEqual(of(keepRequesting), { holds: [], changesMayGoOn: true, inVain: false });
  assert.deepEqual(of(unstickPod), { holds: [], changesMayGoOn: false, inVain: true });
  assert.deepEqual(of(finishRolling), { holds: [gate], changesMayGoOn: false, inVain: true });
  assert.partialDeepStrictEqual(of(finishRemoval), { changesMayGoOn: false, inVain: true });
});

test('an action that fails is retried at every look where a quorum or a life depends on it', () => {
  const kinds = `follow-volumes bar-members wake-members prepare-members issue-certificates start-members seal-members
    remove-member recreate-pod add-learner promote-learner outvote-members delete-recovery-job`;
  assert.deepEqual([...keepsAlive].toSorted(), kinds.split(/\s+/).toSorted());
});
