import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { ConfigMap, Secret } from '../../../../manifests/kube-types.ts';
import { revocationsKey } from '../../../../manifests/render/names.ts';
import { leftOutOf, plainSerial, revocations } from '../../../../manifests/render/revocations.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { inspectLeaf } from '../../../../reconcile/x509/inspect.ts';
import { secretData } from '../../../support/world/applications.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';
import { allUses, authorityIn, byPerson, give } from './provided.ts';

/** Clients that members refuse: a list that all of them read. */

const revoking = (...revokedClientSerials: string[]): Partial<EtcdClusterSpec> => ({
  replicas: 3,
  tls: { mode: 'Managed', revokedClientSerials },
});
const none: Partial<EtcdClusterSpec> = { replicas: 3, tls: { mode: 'Managed' } };

const actsOf = ({ steps }: Converged) => steps.map(({ action, target }) => `${action} ${target}`);

const listIn = (world: World) =>
  world.kube.stored<ConfigMap>(resources.configMaps).find(({ metadata }) => metadata.name === 'orders-revocations');

function serialIn(world: World, secret: string): string {
  const inspected = inspectLeaf(secretData(world, secret));
  if (inspected.kind !== 'readable') assert.fail(inspected.kind);
  return inspected.leaf.serial ?? assert.fail('it has no number');
}

/** What the spec, as it is stored, asks for. */
function assertAsAsked(world: World): void {
  const wanted = revocations(world.cluster() ?? assert.fail()).binaryData?.[revocationsKey];
  assert.ok(wanted);
  assert.equal(listIn(world)?.binaryData?.[revocationsKey], wanted);
}

async function settled(world: World): Promise<Converged> {
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return end;
}

describe('a list of refused clients', () => {
  test('is there before the first member of a birth', async () => {
    const world = await bornWith(revoking());
    assertAsAsked(world);
    const written = world.kube.journal().filter(({ verb }) => verb === 'POST');
    const at = (is: (one: (typeof written)[number]) => boolean) => written.findIndex(is);
    const made = at(({ body }) => body?.metadata.name === 'orders-revocations');
    assert.ok(made >= 0 && made < at(({ resource }) => resource.plural === 'statefulsets'));
    assert.deepEqual(actsOf(await settled(world)), []);
  });

  test('that is new restarts members once, one at a time, and one that changes none', async () => {
    const world = await bornWith(none);
    await world.apply(revoking('0A:0B'));
    const [list, ...others] = actsOf(await settled(world));
    assert.equal(list, 'apply-shared revocations');
    assert.deepEqual(
      others.map((one) => one.split(' ')[0]),
      ['change-template', 'change-template', 'change-template'],
    );
    await world.apply(revoking('0a0b', '0c'));
    assert.deepEqual(actsOf(await settled(world)), ['apply-shared revocations']);
    assertAsAsked(world);
  });

  test('goes when no member reads it any more, and not before', async () => {
    const world = await bornWith(revoking('0a'));
    await world.apply(none);
    const acts = actsOf(await settled(world));
    assert.equal(acts.at(-1), 'apply-shared no-revocations');
    assert.equal(acts.filter((one) => one.startsWith('change-template')).length, 3);
    assert.equal(listIn(world), undefined);
  });

  test('that another client emptied is written again', async () => {
    const world = await bornWith(revoking('0a'));
    const found = listIn(world) ?? assert.fail();
    world.kube.seed(resources.configMaps, { ...found, ...{ binaryData: {} } });
    assert.deepEqual(actsOf(await settled(world)), ['apply-shared revocations']);
    assertAsAsked(world);
  });

  for (const secret of ['orders-client-tls', 'orders-reconciler-tls', 'orders-1-server-tls']) {
    test(`with the number of ${secret}: that is issued anew before members have the list`, async () => {
      const world = await bornWith(revoking());
      const before = serialIn(world, secret);
      await world.apply(revoking(before));
      assert.deepEqual(
        actsOf(await settled(world)).map((one) => one.split(' ')[0]),
        ['apply-shared', 'issue-certificates', 'apply-shared'],
      );
      assert.notEqual(serialIn(world, secret), before);
      assertAsAsked(world);
    });
  }

  test('that can not be made keeps no member from being replaced', async () => {
    const world = await bornWith({ ...none, healing: { podGracePeriod: '20s', memberGracePeriod: '40s' } });
    const theirs = { name: 'orders-revocations', namespace, uid: 'theirs' };
    world.kube.seed(resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: theirs });
    await world.apply({ ...revoking('0a'), healing: { podGracePeriod: '20s', memberGracePeriod: '40s' } });
    world.loseVolume('orders-1');
    await tickUntilConverged(world, { limit: 300 });
    assertOneCluster(world, 3);
  });
});

const revokingTheirs = (...revokedClientSerials: string[]) => ({
  ...byPerson,
  tls: { ...byPerson.tls, revokedClientSerials },
});

/** The number stays out of the list as long as it is in use. */
async function tellsRevoked(world: World, serial: string): Promise<void> {
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'CertificateRevoked', end.trail.join('\n'));
  assert.equal(conditionOf(world.cluster()?.status, 'CertificatesReady')?.reason, 'Revoked');
  assert.equal(conditionOf(world.cluster()?.status, 'Available')?.status, 'True');
  const wanted = revocations(world.cluster() ?? assert.fail(), [serial]);
  assert.deepEqual(listIn(world)?.binaryData, wanted.binaryData, 'it leaves that out, and nothing else');
}

for (const secret of ['my-client', 'my-server'])
  test(`a list that names the certificate in ${secret} is told, and leaves that out`, async () => {
    const world = createWorld();
    await give(world, allUses);
    await world.apply(byPerson);
    await tickUntilConverged(world);
    const serial = serialIn(world, secret);
    await world.apply(revokingTheirs(serial, '0a'));
    await tellsRevoked(world, serial);
    world.kube.remove(resources.configMaps, namespace, 'orders-revocations');
    await tellsRevoked(world, serial);
    await world.apply(revokingTheirs('0a'));
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.deepEqual(leftOutOf(listIn(world) ?? assert.fail()), []);
  });

test('a list that names a CA behind the certificate of etcd-ratchet is told', async () => {
  const world = createWorld();
  const authority = await authorityIn(world);
  await give(world, allUses, authority);
  const [shown = assert.fail()] = world.kube
    .stored<Secret>(resources.secrets)
    .filter(({ metadata }) => metadata.name === 'my-client');
  const leaf = Buffer.from(shown.data?.['tls.crt'] ?? '', 'base64').toString();
  const chain = Buffer.from(leaf + authority.certificate).toString('base64');
  world.kube.seed(resources.secrets, { ...shown, ...{ data: { ...shown.data, 'tls.crt': chain } } });
  await world.apply(byPerson);
  await tickUntilConverged(world);
  const serial = plainSerial(new X509Certificate(authority.certificate).serialNumber);
  await world.apply(revokingTheirs(serial, '0a'));
  await tellsRevoked(world, serial);
});

test('a birth with such a list comes up, and tells it', async () => {
  const world = createWorld();
  await give(world, allUses);
  const serial = serialIn(world, 'my-client');
  await world.apply(revokingTheirs(serial));
  await tellsRevoked(world, serial);
});

test('a certificate that comes back after it was revoked is left out of the list, and told', async () => {
  const world = createWorld();
  const authority = await authorityIn(world);
  await give(world, allUses, authority);
  await world.apply(revokingTheirs());
  await tickUntilConverged(world);
  const [before = assert.fail()] = world.kube
    .stored<Secret>(resources.secrets)
    .filter(({ metadata }) => metadata.name === 'my-client');
  const serial = serialIn(world, 'my-client');
  await give(world, ['clientSecretName'], authority);
  await world.apply(revokingTheirs(serial));
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  world.kube.seed(resources.secrets, before);
  for (let tick = 0; tick < 40; tick += 1) {
    await world.tick();
    world.advance(60);
  }
  await tellsRevoked(world, serial);
});
