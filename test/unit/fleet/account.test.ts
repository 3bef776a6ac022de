import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passFleet } from '../../../functions/pass/fleet-pass.ts';
import { isOurAccount } from '../../../manifests/api/our-accounts.ts';
import { actingFor } from '../../../reconcile/fleet/account.ts';
import { dryRun } from '../../../reconcile/fleet/check/dry-run.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { fleetWith, specOf } from './objects.ts';

function fleetAs(serviceAccountName: string) {
  const fleet = fleetWith();
  return { ...fleet, spec: { ...fleet.spec, serviceAccountName } };
}

for (const [name, isOurs] of [
  ['etcd-ratchet', true],
  ['etcd-ratchet-page', true],
  ['fleet', false],
  ['etcd-ratchets', false],
  ['team-etcd-ratchet', false],
] as const) {
  test(`service account ${name} is ${isOurs ? '' : 'not '}one of etcd-ratchet itself`, () => {
    assert.equal(isOurAccount(name), isOurs);
    const act = () => actingFor(fleetAs(name), createFakeKube());
    if (isOurs) assert.throws(act, { reason: 'AccountRefused', class: 'terminal' });
    else assert.doesNotThrow(act);
  });
}

test('a fleet whose account is refused has its reason, and Git is not asked', async () => {
  const kube = createFakeKube();
  const asked = () => assert.fail('Git was asked');
  const result = await passFleet(fleetAs('etcd-ratchet'), { fleets: [], clusters: [] }, {
    ...{ kube, dryRun: false, followUp: false, log: () => {}, gitMs: 1_000, signal: AbortSignal.timeout(5_000) },
    reader: { read: asked, merge: asked, [Symbol.dispose]: () => {} },
    git: { resolve: asked, read: asked, [Symbol.dispose]: () => {} },
  } as never);
  assert.ok(result.kind === 'done' && result.outcome.reading.kind === 'failed');
  const { reason, retryable, message } = result.outcome.reading;
  assert.deepEqual([reason, retryable], ['AccountRefused', false]);
  assert.match(message, /spec\.serviceAccountName is etcd-ratchet, an account of etcd-ratchet itself: name/);
});

test('nor does the plan of a pull request ask the API server as such an account', async () => {
  const kube = createFakeKube();
  const planned = { kind: 'create', spec: specOf('orders') } as const;
  const signal = AbortSignal.timeout(5_000);
  const found = await dryRun(planned as never, { fleet: fleetAs('etcd-ratchet'), kube, signal });
  assert.ok(found.kind === 'problem');
  assert.match(found.problem.message, /an account of etcd-ratchet itself/);
});
