import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../../manifests/api/etcd-fleet.ts';
import { annotations, approverOf, labels } from '../../../../manifests/render/names.ts';
import { readFourEyes } from '../../../../reconcile/cluster/observe/read-four-eyes.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../../support/fakes/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A rollback that one person commits and the same, or another one, approves (`spec.approvals.notByAuthor`). */

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };
const revision = `main@sha1:${'a'.repeat(40)}`;
const url = 'https://git.example.com/etcd.git';
const people = [{ usernames: ['ada'], signers: ['ada@example.com'] }, { usernames: ['grace'] }];

function fleetOf(world: World, asks = true): EtcdFleet {
  const uid = world.cluster()?.metadata.uid ?? '';
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { namespace, name: 'production', uid: 'fleet' },
    spec: {
      git: { url, ref: 'main', verify: { configMapName: 'signers' } },
      ...(asks && { approvals: { notByAuthor: { people } } }),
    },
    status: {
      observedGeneration: 1,
      revision: { attempted: revision, applied: revision },
      verification: { revision, url, mode: 'Head', signedBy: 'ada@example.com', key: 'K' },
      inventory: [{ namespace, name: 'orders', uid, generation: 1, source: 'orders.yaml' }],
    },
  };
}

/** Asks for the rollback; of that fleet as this pass lists it. */
async function asking(): Promise<{ readonly world: World; readonly value: string }> {
  const world = await bornWith({ replicas: 1 });
  await world.apply({ replicas: 1, rollback: { clusterID: world.cluster()?.status?.clusterID ?? '', snapshot } });
  assert.equal((await tickUntilConverged(world)).reason, 'RollbackNotApproved');
  return { world, value: world.cluster()?.status?.approvals?.[0]?.value ?? assert.fail('nothing is asked') };
}

async function set(world: World, given: Readonly<Record<string, string>>, marks = {}): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const metadata = { ...cluster.metadata, annotations: given, labels: marks };
  await world.kube.update(resources.clusters, { ...cluster, metadata });
}

const byName = (value: string, by?: string) => ({
  [annotations.rollBack]: value,
  ...(by !== undefined && { [approverOf(annotations.rollBack)]: by }),
});

const ofFleet = {
  given: { [annotations.fleetName]: `${namespace}/production` },
  marks: { [labels.fleet]: 'fleet' },
};

const setAside = (world: World) => conditionOf(world.cluster()?.status, 'SetAside');

test('the author approves in vain, and is told; what another person approves goes on', async () => {
  const { world, value } = await asking();
  const fleet = fleetOf(world);
  world.kube.seed(resources.fleets, fleet);
  const options = { beside: { clusters: [], fleets: [fleet] } };
  for (const by of ['ada', 'mallory', undefined]) {
    await set(world, { ...byName(value, by), ...ofFleet.given }, ofFleet.marks);
    const { reason, acts } = await tickUntilConverged(world, { options });
    assert.deepEqual([reason, acts], ['RollbackNotApproved', 0], by);
    assert.equal(setAside(world)?.reason, 'FourEyesMissing', by);
    assert.match(setAside(world)?.message ?? '', /approval etcd\.ratchet\.dev\/roll-back is given and does not count/);
    const [asked] = world.cluster()?.status?.approvals ?? [];
    assert.deepEqual([asked?.value, typeof asked?.refused], [value, 'string']);
    assert.equal(world.cluster()?.metadata.annotations?.[annotations.rollBack], value, 'it is not taken away');
    assert.equal((await world.plan('keep')).planned?.steps.length, 0, 'nor does a plan count it');
  }
  await set(world, byName(value, 'grace'));
  const result = await world.tick({}, options);
  assert.equal(result?.outcome, 'acted', result?.message);
  assert.equal(setAside(world), undefined);
});

test('the fleet counts as it is now, and also for a cluster that lost its label', async () => {
  const { world, value } = await asking();
  const [before, now] = [fleetOf(world, false), fleetOf(world)];
  world.kube.seed(resources.fleets, now);
  await set(world, byName(value, 'ada'));
  const stale = { beside: { clusters: [], fleets: [before] } };
  assert.equal((await tickUntilConverged(world, { options: stale })).reason, 'RollbackNotApproved');
  // A pass that can't list the fleet finds it by what it wrote.
  await set(world, { ...byName(value, 'ada'), ...ofFleet.given }, ofFleet.marks);
  assert.equal((await tickUntilConverged(world)).reason, 'RollbackNotApproved');
  assert.equal(setAside(world)?.reason, 'FourEyesMissing');
});

test('where a fleet may not be read, no approval counts to a step, and each does to a plan', async () => {
  const { world, value } = await asking();
  await set(world, { ...byName(value, 'grace'), ...ofFleet.given }, ofFleet.marks);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const kube = createFakeKube({ authorize: () => false });
  const refused = async (unread: 'all' | 'none') =>
    readFourEyes(kube, cluster, { fleets: [], unread }, AbortSignal.timeout(10_000));
  const [one, ...more] = await refused('none');
  assert.match(one?.why ?? '', /^EtcdFleet \S+\/production may not be read/);
  assert.deepEqual([one?.annotation, more, await refused('all')], [annotations.rollBack, [], []]);
});

test('where no fleet asks for it, an approval without a name goes on to count', async () => {
  const { world, value } = await asking();
  const fleet = fleetOf(world, false);
  world.kube.seed(resources.fleets, fleet);
  await set(world, byName(value));
  const result = await world.tick({}, { beside: { clusters: [], fleets: [fleet] } });
  assert.equal(result?.outcome, 'acted', result?.message);
});
