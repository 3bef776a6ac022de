import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostSigners } from '../../../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../../../manifests/api/etcd-fleet.ts';
import { annotations, approverOf, labels } from '../../../../manifests/render/names.ts';
import { knownFleets, readFourEyes } from '../../../../reconcile/cluster/observe/read-four-eyes.ts';
import { KubeError, resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { createFakeKube } from '../../../support/fakes/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A rollback that one person commits and the same, or another one, approves (`spec.approvals.notByAuthor`). */

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };
const revision = `main@sha1:${'a'.repeat(40)}`;
const url = 'https://git.example.com/etcd.git';
const zoe = { usernames: ['zoe'], signers: ['zoe@example.com'] };
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

test('the commit of a fleet counts as it is now, also for a cluster whose label was changed', async () => {
  const { world, value } = await asking();
  const now = fleetOf(world);
  const other = `main@sha1:${'b'.repeat(40)}`;
  const verification = { revision: other, url, mode: 'Head', signedBy: 'grace@example.com', key: 'G' };
  const status = { ...now.status, observedGeneration: 1, revision: { attempted: other }, verification };
  world.kube.seed(resources.fleets, now);
  const stale = { beside: { clusters: [], fleets: [{ ...now, status }] } };
  for (const marks of [{}, { [labels.fleet]: 'another' }]) {
    await set(world, { ...byName(value, 'ada'), [annotations.fleetName]: 'elsewhere/other' }, marks);
    assert.equal((await tickUntilConverged(world, { options: stale })).reason, 'RollbackNotApproved');
    assert.equal(setAside(world)?.reason, 'FourEyesMissing');
  }
  // A pass that can't list the fleet finds it by what it wrote.
  await set(world, { ...byName(value, 'ada'), ...ofFleet.given }, ofFleet.marks);
  assert.equal((await tickUntilConverged(world)).reason, 'RollbackNotApproved');
  assert.equal(setAside(world)?.reason, 'FourEyesMissing');
});

const later = `main@sha1:${'b'.repeat(40)}`;

/** A rollback that ada signs, in a fleet whose inventory follows; passes of it, and spec changes of others. */
async function signedByAda() {
  const world = await bornWith({ replicas: 1 });
  let generation: number | undefined;
  const by = (signedBy: string, at: string): EtcdFleet => {
    const fleet = fleetOf(world);
    const [entry = assert.fail()] = fleet.status?.inventory ?? [];
    const left = { ...entry, generation: generation ?? world.cluster()?.metadata.generation ?? 0 };
    return {
      ...fleet,
      spec: { ...fleet.spec, approvals: { notByAuthor: { people: [...people, zoe] } } },
      status: {
        ...{ observedGeneration: 1, inventory: [left], revision: { attempted: at } },
        verification: { revision: at, url, mode: 'Head', signedBy, key: 'K' },
      },
    };
  };
  const passOf = (signedBy: string, at = later) => {
    const fleet = by(signedBy, at);
    world.kube.seed(resources.fleets, fleet);
    return tickUntilConverged(world, { options: { beside: { clusters: [], fleets: [fleet] } } });
  };
  const rollback = { clusterID: world.cluster()?.status?.clusterID ?? '', snapshot };
  await world.apply({ replicas: 1, rollback });
  await passOf('ada@example.com', revision);
  const value = world.cluster()?.status?.approvals?.[0]?.value ?? assert.fail('nothing is asked');
  /** Git has not put back what an editor changes from here on. */
  const freeze = () => {
    generation = world.cluster()?.metadata.generation;
  };
  return { world, passOf, value, rollback, freeze };
}

test('a signer of any commit that is not done approves nothing of it, also after others', async () => {
  const { world, passOf, value, rollback } = await signedByAda();
  assert.deepEqual(world.cluster()?.status?.signers, ['ada@example.com']);
  await passOf('zoe@example.com');
  assert.deepEqual(world.cluster()?.status?.signers, ['ada@example.com'], 'what asks nothing of it has no part');
  await world.apply({ replicas: 1, rollback, etcd: { snapshotCount: 100 } });
  await passOf('zoe@example.com');
  assert.deepEqual(world.cluster()?.status?.signers, ['ada@example.com', 'zoe@example.com']);
  for (const [name, why] of [
    ['ada', /^ada gave it, and signed an earlier commit that is not done yet as ada@example\.com$/],
    ['zoe', /^zoe gave it, and signed main@sha1:b{40} as zoe@example\.com$/],
  ] as const) {
    await set(world, byName(value, name));
    assert.equal((await passOf('zoe@example.com')).reason, 'RollbackNotApproved', name);
    assert.match(world.cluster()?.status?.approvals?.[0]?.refused ?? '', why);
  }
  await set(world, byName(value, 'grace'));
  assert.equal((await passOf('zoe@example.com')).reason, 'Converged');
  assert.equal(world.cluster()?.status?.signers, undefined, 'what is done has no author any more');
});

test('an editor who takes the spec back for a moment is no less its author', async () => {
  const { world, passOf, value, rollback, freeze } = await signedByAda();
  freeze();
  const asked = world.cluster()?.spec ?? assert.fail('no cluster');
  const { rollback: _, ...rest } = asked;
  const edit = async (spec: typeof asked) => {
    const now = world.cluster() ?? assert.fail('no cluster');
    await world.kube.update(resources.clusters, { ...now, spec });
  };
  await edit(rest);
  assert.equal((await passOf('zoe@example.com')).reason, 'Converged');
  assert.ok(world.cluster()?.status?.signers?.includes('ada@example.com'), 'Git asks for it still');
  await edit({ ...rest, rollback });
  await set(world, byName(value, 'ada'));
  assert.equal((await passOf('grace@example.com')).reason, 'RollbackNotApproved');
});

test('where more signers are authors than are remembered, no approval counts', async () => {
  const { world, passOf, value } = await signedByAda();
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const signers = Array.from({ length: mostSigners }, (_, n) => `signer-${n}@example.com`);
  await world.kube.updateStatus(resources.clusters, { ...cluster, status: { ...cluster.status, signers } as never });
  await set(world, byName(value, 'grace'));
  assert.equal((await passOf('zoe@example.com')).reason, 'RollbackNotApproved');
  assert.match(world.cluster()?.status?.approvals?.[0]?.refused ?? '', /^more than 32 signers are authors/);
});

test('a fleet that did not apply the cluster refuses, and tells nothing of who signed', async () => {
  const { world, value } = await asking();
  const fleet = fleetOf(world);
  const foreign = { ...fleet, status: { ...fleet.status, observedGeneration: 1, inventory: [] } };
  world.kube.seed(resources.fleets, foreign);
  const options = { beside: { clusters: [], fleets: [foreign] } };
  await set(world, { ...byName(value, 'grace'), ...ofFleet.given }, ofFleet.marks);
  assert.equal((await tickUntilConverged(world, { options })).reason, 'RollbackNotApproved');
  const { signers, approvals } = world.cluster()?.status ?? {};
  assert.match(
    approvals?.[0]?.refused ?? '',
    /^the cluster bears the label of EtcdFleet \S+, whose inventory does not/,
  );
  assert.equal(signers, undefined);
  // Of a label that is nobody's, by the name of a fleet of others.
  await set(world, { ...byName(value, 'grace'), ...ofFleet.given }, { [labels.fleet]: 'bogus' });
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
});

test('fleets that can not be read refuse what is approved, cost no step, and are asked once', async () => {
  const { world, value } = await asking();
  const fleet = fleetOf(world);
  await set(world, byName(value, 'grace'));
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const kube = createFakeKube({});
  let asked = 0;
  const down = new KubeError('the server is down', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
  const get = () => {
    asked += 1;
    return Promise.reject(down);
  };
  const failing = { ...kube, get };
  const signal = AbortSignal.timeout(10_000);
  const fleets = knownFleets(failing, [fleet], signal);
  const looks = Array.from({ length: 20 }, () => readFourEyes(cluster, { fleets, unread: 'none' }, signal));
  for (const { refused } of await Promise.all(looks)) assert.match(refused[0]?.why ?? '', /can't be read/);
  assert.equal(asked, 1);
  // An annotation is no path.
  const astray = { ...ofFleet.marks, [labels.fleet]: 'x' };
  const given = { ...byName(value, 'grace'), [annotations.fleetName]: '../production' };
  const odd = { ...cluster, metadata: { ...cluster.metadata, annotations: given, labels: astray } };
  const none = knownFleets(failing, [], signal);
  assert.deepEqual((await readFourEyes(odd, { fleets: none, unread: 'none' }, signal)).refused, []);
  assert.equal(asked, 1);
  const over = AbortSignal.abort(new Error('over'));
  await assert.rejects(readFourEyes(cluster, { fleets, unread: 'none' }, over), /over/);
  // Where no fleet asks for four eyes, none is read.
  const free = knownFleets(failing, [fleetOf(world, false)], signal);
  assert.deepEqual(await readFourEyes(cluster, { fleets: free, unread: 'none' }, signal), { refused: [] });
  assert.equal(asked, 1);
});

test('where a fleet may not be read, no approval counts to a step, and each does to a plan', async () => {
  const { world, value } = await asking();
  await set(world, { ...byName(value, 'grace'), ...ofFleet.given }, ofFleet.marks);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const kube = createFakeKube({ authorize: () => false });
  const signal = AbortSignal.timeout(10_000);
  const refused = async (unread: 'all' | 'none') =>
    (await readFourEyes(cluster, { fleets: knownFleets(kube, [], signal), unread }, signal)).refused;
  const [one, ...more] = await refused('none');
  assert.match(one?.why ?? '', /^EtcdFleet \S+\/production can't be read/);
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
