import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { ConfigMap, Secret } from '../../../../manifests/kube-types.ts';
import { clusterLeaves, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import { leftOutOf, plainSerial, revocations } from '../../../../manifests/render/revocations.ts';
import type { PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { type Authority, createAuthority } from '../../../../reconcile/x509/issue.ts';
import { day, leafOf } from '../../../e2e/support/certificates.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
const spec = { replicas: 1, tls: { mode: 'Provided', provided } } as const;

const lifeIn = (world: World) => ({
  notBefore: new Date(world.now() - day),
  notAfter: new Date(world.now() + 90 * day),
});
const authorityIn = (world: World) => createAuthority({ commonName: 'of a person', ...lifeIn(world) });

/** Of one CA, or of the given one. */
function give(world: World, ...uses: readonly (keyof typeof provided)[]) {
  return async (given?: Authority): Promise<void> => {
    const authority = given ?? (await authorityIn(world));
    const [peer, server] = memberLeaves({ namespace, cluster: 'orders' }, 'orders-0');
    const plans = { peerSecretName: peer, serverSecretName: server, clientSecretName: clusterLeaves('orders')[0] };
    for (const use of uses) {
      const data = await leafOf(plans[use], authority, { validity: lifeIn(world) });
      world.kube.seed(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: provided[use], namespace },
        data,
      });
    }
  };
}

const lines = (steps: readonly PlannedStep[]) => steps.map(({ action, target = '' }) => `${action} ${target}`);

test('of a birth with Secrets of a person, a plan looks at them before there is a member', async () => {
  const world = createWorld();
  await give(world, 'peerSecretName', 'serverSecretName', 'clientSecretName')();
  const { planned, problem } = await world.plan(spec);
  assert.ok(planned, problem);
  await world.apply(spec);
  const reached = await tickUntilConverged(world);
  assert.deepEqual(lines(planned.steps), lines(reached.steps));
  assert.deepEqual([planned.end.kind, planned.end.reason], ['done', reached.reason]);
});

test('of a birth that lacks a Secret of a person, a plan ends with the name of that one', async () => {
  const world = createWorld();
  await give(world, 'peerSecretName', 'clientSecretName')();
  const { planned, problem } = await world.plan(spec);
  assert.ok(planned, problem);
  assert.deepEqual([planned.end.kind, planned.end.reason], ['refused', 'CertificateSecretMissing']);
  assert.match(planned.end.message, /my-server/);
});

const serialIn = (world: World, name: string) => {
  const shown = world.kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === name);
  return plainSerial(new X509Certificate(Buffer.from(shown?.data?.['tls.crt'] ?? '', 'base64')).serialNumber);
};
const all = ['peerSecretName', 'serverSecretName', 'clientSecretName'] as const;
const revoking = (...revokedClientSerials: string[]) => ({ ...spec, tls: { ...spec.tls, revokedClientSerials } });
const listIn = (world: World) =>
  world.kube.stored<ConfigMap>(resources.configMaps).find(({ metadata }) => metadata.name === 'orders-revocations');

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
    await give(world, ...all)();
    await world.apply(spec);
    await tickUntilConverged(world);
    const serial = serialIn(world, secret);
    await world.apply(revoking(serial, '0a'));
    await tellsRevoked(world, serial);
    world.kube.remove(resources.configMaps, namespace, 'orders-revocations');
    await tellsRevoked(world, serial);
    await world.apply(revoking('0a'));
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.deepEqual(leftOutOf(listIn(world) ?? assert.fail()), []);
  });

test('a list that names a CA behind the certificate of etcd-ratchet is told', async () => {
  const world = createWorld();
  const authority = await authorityIn(world);
  await give(world, ...all)(authority);
  const [shown = assert.fail()] = world.kube
    .stored<Secret>(resources.secrets)
    .filter(({ metadata }) => metadata.name === 'my-client');
  const leaf = Buffer.from(shown.data?.['tls.crt'] ?? '', 'base64').toString();
  const chain = Buffer.from(leaf + authority.certificate).toString('base64');
  world.kube.seed(resources.secrets, { ...shown, ...{ data: { ...shown.data, 'tls.crt': chain } } });
  await world.apply(spec);
  await tickUntilConverged(world);
  const serial = plainSerial(new X509Certificate(authority.certificate).serialNumber);
  await world.apply(revoking(serial, '0a'));
  await tellsRevoked(world, serial);
});

test('a birth with such a list comes up, and tells it', async () => {
  const world = createWorld();
  await give(world, ...all)();
  const serial = serialIn(world, 'my-client');
  await world.apply(revoking(serial));
  await tellsRevoked(world, serial);
});

test('a certificate that comes back after it was revoked is left out of the list, and told', async () => {
  const world = createWorld();
  const authority = await authorityIn(world);
  await give(world, ...all)(authority);
  await world.apply(revoking());
  await tickUntilConverged(world);
  const [before = assert.fail()] = world.kube
    .stored<Secret>(resources.secrets)
    .filter(({ metadata }) => metadata.name === 'my-client');
  const serial = serialIn(world, 'my-client');
  await give(world, 'clientSecretName')(authority);
  await world.apply(revoking(serial));
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  world.kube.seed(resources.secrets, before);
  for (let tick = 0; tick < 40; tick += 1) {
    await world.tick();
    world.advance(60);
  }
  await tellsRevoked(world, serial);
});
