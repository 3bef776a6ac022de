import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld } from '../../../support/world/world.ts';
import { allUses, byPerson, give } from './provided.ts';

const lines = (steps: readonly PlannedStep[]) => steps.map(({ action, target = '' }) => `${action} ${target}`);

test('of a birth with Secrets of a person, a plan looks at them before there is a member', async () => {
  const world = createWorld();
  await give(world, allUses);
  const { planned, problem } = await world.plan(byPerson);
  assert.ok(planned, problem);
  await world.apply(byPerson);
  const reached = await tickUntilConverged(world);
  assert.deepEqual(lines(planned.steps), lines(reached.steps));
  assert.deepEqual([planned.end.kind, planned.end.reason], ['done', reached.reason]);
});

test('of a birth that lacks a Secret of a person, a plan ends with the name of that one', async () => {
  const world = createWorld();
  await give(world, ['peerSecretName', 'clientSecretName']);
  const { planned, problem } = await world.plan(byPerson);
  assert.ok(planned, problem);
  assert.deepEqual([planned.end.kind, planned.end.reason], ['refused', 'CertificateSecretMissing']);
  assert.match(planned.end.message, /my-server/);
});
