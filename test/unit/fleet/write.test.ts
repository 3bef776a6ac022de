import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../../manifests/api/etcd-fleet-status.ts';
import { writeFleetStatus } from '../../../reconcile/fleet/write.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { conditions, fleetWith, revision } from './objects.ts';

const signal = AbortSignal.timeout(30_000);
const check = (state: 'pending' | 'success') =>
  ({ number: '17', head: 'a'.repeat(40), target: 'b'.repeat(40), state, description: state }) as const;

/** A pass has read the fleet; then somebody else writes, and then it reports. */
async function race(
  read: Partial<EtcdFleetStatus>,
  meanwhile: Partial<EtcdFleetStatus>,
  report: Partial<EtcdFleetStatus>,
): Promise<EtcdFleetStatus | undefined> {
  const kube = createFakeKube();
  kube.seed(resources.fleets, fleetWith({ revision: { attempted: revision, applied: revision }, ...read }));
  const fleet = () => kube.get<EtcdFleet>(resources.fleets, 'platform', 'production');
  const seen = await fleet();
  assert.ok(seen?.status);
  await kube.updateStatus(resources.fleets, { ...seen, status: { ...seen.status, ...meanwhile } });
  assert.equal(await writeFleetStatus(kube, seen, { ...seen.status, ...report }, signal), true);
  return (await fleet())?.status;
}

test('a report takes back no verdict, and no answer, that another invocation gave meanwhile', async () => {
  const written = await race(
    { checks: [check('pending')], conditions: conditions(['Ready', 'False'], ['RequestsChecked', 'False']) },
    {
      checks: [check('success')],
      lastHandledReconcileAt: 'now',
      conditions: conditions(['Ready', 'False'], ['RequestsChecked', 'True']),
    },
    {
      lastRun: '2026-05-01T10:00:00Z',
      conditions: conditions(['Ready', 'True', 'every cluster is ready'], ['RequestsChecked', 'False']),
    },
  );
  assert.deepEqual(written?.checks, [check('success')]);
  assert.equal(written?.lastHandledReconcileAt, 'now');
  assert.equal(conditionOf(written, 'RequestsChecked')?.status, 'True');
  assert.equal(conditionOf(written, 'Ready')?.status, 'True', 'and says what is news');
  assert.equal(written?.lastRun, '2026-05-01T10:00:00Z');
});

test('what a report takes away or answers is so, whatever was written meanwhile', async () => {
  const written = await race(
    { checks: [check('pending')], conditions: conditions(['Stalled', 'True'], ['RequestsChecked', 'False']) },
    {
      lastHandledReconcileAt: 'first',
      conditions: conditions(['Stalled', 'True'], ['Reconciling', 'True'], ['RequestsChecked', 'True']),
    },
    {
      lastHandledReconcileAt: 'second',
      checks: undefined as never,
      conditions: conditions(['Ready', 'True']),
    },
  );
  assert.equal(written?.checks, undefined);
  assert.equal(written?.lastHandledReconcileAt, 'second');
  // Its own conditions go together: never Ready beside another's Stalled.
  assert.deepEqual(
    written?.conditions?.map(({ type }) => type),
    ['Ready'],
  );
});
