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
    const told = followed(plan, { decision: needed });
    assert.equal(told.message, 'as planned, 1 of 1 step, then a person is needed (MinorSkipped)');
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

  test('takes the leaves of an adopted member before or after its record', () => {
    const leaf = (target: string) => step('issue-certificates', target, 'IssuingCertificates');
    const [made, prepared, started] = [
      step('make-authorities', '', 'MakingAuthorities'),
      step('prepare-members', 'orders-0', 'AdoptingVolumes'),
      step('start-members', 'orders-0', 'StartingMembers'),
    ];
    const plan = planOf([made, prepared, leaf('orders-client-tls, orders-0-peer-tls'), started]);
    const early = [made, leaf('orders-client-tls'), prepared, leaf('orders-0-peer-tls')].map(acted);
    for (const count of early.keys()) assert.equal(after(plan, ...early.slice(0, count + 1)).state, 'UnderWay');
    const whole = followed(after(plan, ...early, acted(started)), { decision: done });
    assert.equal(whole.message, 'as planned, 4 of 4 steps');
    assert.equal(after(plan, acted(made), acted(leaf('orders-9-peer-tls'))).state, 'Left', 'no other leaf');
    assert.equal(after(plan, acted(made), acted(third)).state, 'Left', 'no other action');
  });

  test('makes up for a failure at the very member alone', () => {
    const failed = { ...first, reason: 'Timeout', outcome: 'failed' } as const;
    const other = after(planOf([first, second]), failed, acted(third));
    assert.match(
      other.message,
      /^left its plan at step 2 of 2, after a step that failed or was cut off: retire-member/,
    );
    const elsewhere = { ...failed, target: 'orders-9' } as const;
    assert.equal(after(planOf([first, second]), failed, elsewhere).taken?.length, 2, 'two members are two failures');
  });

  test('names nine members of the longest name', () => {
    const names = Array.from({ length: 9 }, (_, n) => `${'o'.repeat(48)}-${n}`);
    const whole = step('seal-members', names.join(', '), 'SealingMembers');
    const plan = after(planOf([whole]), ...names.map((name) => acted({ ...whole, target: name })));
    assert.equal(followed(plan, { decision: done }).state, 'AsPlanned', plan.message);
  });

  test('that could not be made is not followed, and says so', () => {
    const plan = planOf([], { end: 'unknown' });
    assert.deepEqual([plan.state, plan.message], ['NotFollowed', 'its plan could not be made']);
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
  const uid = healthy(3).cluster.metadata.uid?.slice(0, 8);
  const [asked, other] = [`2-${uid}`, `1-${uid}`];
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

  test('anew where what it waited for has come, and counts what was done before', () => {
    const waiting = { ...kept, state: 'UnderWay', ends: 'waits', foretold: [first], taken: [acted(first)] } as const;
    const seen = withStatus(waiting, 2);
    assert.ok(beginsPlan(seen, act));
    assert.ok(!beginsPlan(withStatus({ ...waiting, taken: [] }, 2), act), 'not before it is through');
    const plan = begun({ steps: [second, third], end: 'done', isBlind: false }, seen);
    assert.equal(plan.message, '1 of 3 steps');
    const whole = followed(after(plan, acted(second), acted(third)), { decision: done });
    assert.equal(whole.message, 'as planned, 3 of 3 steps');
  });

  test('for no annotation of a person, set or taken away', () => {
    for (const note of [approvals[0], annotations.rotateCertificates, annotations.defragment]) {
      assert.ok(!beginsPlan(withStatus(kept, 2, { [note]: 'a/b' }), act), note);
      assert.equal(askedOf(withStatus(kept, 2, { [note]: 'a/b' }).cluster), asked);
    }
  });
});
