import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterPlan } from '../../../manifests/api/etcd-cluster-status.ts';
import { annotations, approvals } from '../../../manifests/render/names.ts';
import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import type { Step, Taken } from '../../../reconcile/cluster/know/plan/as-foretold.ts';
import { askedOf, beginsPlan, begun, type Foretold, followed } from '../../../reconcile/cluster/know/plan/followed.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { healthy } from './observations.ts';

const step = (action: string, target: string, reason = 'RollingMember'): Step => ({ action, target, reason });
const acted = (one: Step): Taken => ({ ...one, outcome: 'acted' });
const [first, second, third] = [
  step('prepare-members', 'orders-3', 'PreparingMember'),
  step('seal-members', 'orders-3', 'SealingMembers'),
  step('retire-member', 'orders-0', 'RetiringMember'),
];
const act = { kind: 'act' } as Decision;
const done = { kind: 'done', reason: 'Converged', message: 'all healthy' } as const satisfies Decision;
const paused = { kind: 'done', reason: 'Paused', message: 'paused' } as const satisfies Decision;
const needed = {
  kind: 'refuse',
  reason: 'MinorSkipped',
  message: 'too far',
  cure: 'ask for less',
} as const satisfies Decision;
const late = { kind: 'refuse', reason: 'MemberStarting', message: 'starting', cure: '' } as const satisfies Decision;

function planOf(steps: readonly Step[], { end = 'done', isBlind = false }: Partial<Foretold> = {}): ClusterPlan {
  return begun({ steps, end, isBlind }, situate(healthy(3)));
}

function after(plan: ClusterPlan, ...steps: readonly Taken[]): ClusterPlan {
  return steps.reduce((one, taken) => followed(one, { decision: act, step: taken }), plan);
}

describe('a plan that is followed', () => {
  test('says how far it is, and in the end that all was as planned', () => {
    const half = after(planOf([first, second]), acted(first));
    assert.deepEqual([half.state, half.message], ['UnderWay', '1 of 2 steps']);
    const whole = followed(after(half, acted(second)), { decision: done });
    assert.deepEqual([whole.state, whole.message], ['AsPlanned', 'as planned, 2 of 2 steps']);
    assert.equal(whole.foretold, undefined, 'its steps are kept no longer than they are needed');
  });

  test('says where it was left, what came, and what was planned', () => {
    const left = after(planOf([first, second]), acted(first), acted(third));
    assert.equal(left.state, 'Left');
    assert.equal(
      left.message,
      'left its plan at step 2 of 2: retire-member orders-0 (RetiringMember) came, where seal-members orders-3 (SealingMembers) was planned',
    );
    assert.deepEqual(followed(left, { decision: done }), left, 'and that stays so');
  });

  test('is left by a step after its last one', () => {
    const left = after(planOf([first]), acted(first), acted(third));
    assert.match(left.message, /^left its plan at step 2 of 1: retire-member .* came, where no more was planned$/);
  });

  test('is left where it is over too early, or where a person is needed', () => {
    const half = after(planOf([first, second]), acted(first));
    assert.equal(followed(half, { decision: done }).message, 'left its plan after step 1 of 2: it was done');
    const told = followed(half, { decision: needed });
    assert.deepEqual(
      [told.state, told.message],
      ['Left', 'left its plan after step 1 of 2: a person is needed (MinorSkipped)'],
    );
  });

  test('ends as planned with the person that it said would be needed', () => {
    const plan = after(planOf([first], { end: 'refused' }), acted(first));
    assert.equal(followed(plan, { decision: needed }).message, 'as planned, 1 of 1 step');
  });

  test('goes on while a member is late, and while the cluster is paused', () => {
    const half = after(planOf([first, second]), acted(first));
    for (const decision of [late, paused])
      assert.equal(followed(half, { decision }).state, 'UnderWay', decision.reason);
  });

  test('takes a failure that passes, and is made up for, as no difference', () => {
    const plan = after(planOf([first, second]), { ...first, reason: 'Conflict', outcome: 'failed' }, acted(first));
    assert.equal(followed(after(plan, acted(second)), { decision: done }).state, 'AsPlanned');
  });

  test('counts what an invocation did that died before it said so', () => {
    const plan = planOf([first, second]);
    const told = followed(plan, { decision: act, step: acted(second), unreported: first });
    assert.equal(told.message, '2 of 2 steps');
    const again = followed(plan, { decision: act, step: acted(first), unreported: first });
    assert.equal(again.message, '1 of 2 steps', 'but not where the same step is taken again');
  });

  test('that ends with a wait is over when something is done after it', () => {
    const plan = after(planOf([first], { end: 'waits' }), acted(first));
    assert.equal(followed(plan, { decision: act, step: acted(third) }).state, 'AsPlanned');
  });

  test('too long to be followed says so, and keeps no step', () => {
    const many = Array.from({ length: 65 }, (_, n) => step('change-template', `orders-${n}`));
    const plan = planOf(many);
    assert.deepEqual([plan.state, plan.foretold], ['NotFollowed', undefined]);
    assert.equal(after(plan, acted(first)).state, 'NotFollowed');
  });

  test('of which no step can be foreseen yet begins with the first step', () => {
    const plan = planOf([], { end: 'waits' });
    assert.equal(plan.state, 'Pending');
  });
});

describe('a plan begins', () => {
  const withStatus = (plan: ClusterPlan | undefined, generation = 1, notes: Readonly<Record<string, string>> = {}) => {
    const seen = healthy(3);
    const status = { observedGeneration: generation, ...(plan && { plan }) };
    const metadata = { ...seen.cluster.metadata, generation: 2, annotations: notes };
    return situate({ ...seen, cluster: { ...seen.cluster, metadata, status } });
  };
  const [asked, other] = ['2', '1'];
  const kept = { asked, generation: 2, at: '2026-01-02T03:04:05Z', state: 'AsPlanned', message: 'as planned' } as const;

  test('with the first look at a new generation, where something is to be done', () => {
    assert.ok(beginsPlan(withStatus(undefined), act));
    assert.ok(beginsPlan(withStatus({ ...kept, asked: other }), act));
    assert.ok(!beginsPlan(withStatus(undefined), done));
  });

  test('neither for what heals, nor a second time', () => {
    assert.ok(!beginsPlan(withStatus(undefined, 2), act));
    assert.ok(!beginsPlan(withStatus(kept, 2), act));
  });

  test('once something can be foreseen', () => {
    assert.ok(beginsPlan(withStatus({ ...kept, state: 'Pending' }, 2), act));
    assert.ok(!beginsPlan(withStatus({ ...kept, state: 'Pending' }, 2), late));
  });

  test('anew where a person approves, and not where one asks for a look', () => {
    const approved = withStatus(kept, 2, { [approvals[0]]: 'a/b' });
    assert.notEqual(askedOf(approved.cluster), asked);
    assert.ok(beginsPlan(approved, act));
    assert.equal(askedOf(withStatus(kept, 2, { [annotations.reconcile]: 'now' }).cluster), asked);
  });
});
