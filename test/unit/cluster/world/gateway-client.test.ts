import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { gatewayLeaf, type LeafPlan, ownNamesOf } from '../../../../manifests/render/certificate-names.ts';
import { planChange } from '../../../../reconcile/cluster/foresee/change.ts';
import { leavesOfCluster } from '../../../../reconcile/cluster/know/certificates/wanted.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { inspectLeaf, type LeafFacts } from '../../../../reconcile/x509/inspect.ts';
import { issueLeaf } from '../../../../reconcile/x509/issue.ts';
import { leafData } from '../../../../reconcile/x509/secret-data.ts';
import {
  askForRotation,
  deleteSecret,
  restingFlaws,
  secretData,
  secretNamed,
  writeSecret,
} from '../../../support/world/applications.ts';
import { certManagerIn } from '../../../support/world/cert-manager.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';
import { managed, plansOf } from '../certificates.ts';
import { healthy } from '../observations.ts';

/** The client certificate without a common name, for etcd's HTTP gateway. */

const secretName = 'orders-gateway-tls';
const issuedName = `${secretName}-issued`;
const days = 86_400;
const enabled = { tls: { mode: 'Managed', gatewayClient: 'Enabled' } } as const;
const issuerRef = { name: 'company' };
const ofIssuer: Partial<EtcdClusterSpec> = {
  tls: { mode: 'CertManager', certManager: { issuerRef }, gatewayClient: 'Enabled' },
};

describe('that etcd-ratchet signs', () => {
  test('is there from the birth, in the same two steps as without it, and goes with the cluster', async () => {
    const world = createWorld();
    await world.apply(enabled);
    const end = await tickUntilConverged(world);
    assert.deepEqual(acted(end.trail), ['PreparingMembers', 'SealingMembers'], end.trail.join('\n'));
    assertOneCluster(world, 3);
    assert.deepEqual(restingFlaws(world), []);
    assertNameless(leafIn(world, secretName));
    const { ownerReferences } = secretNamed(world, secretName)?.metadata ?? {};
    assert.deepEqual(
      ownerReferences?.map(({ uid }) => uid),
      [world.cluster()?.metadata.uid],
    );
    await world.remove();
    for (let rounds = 0; rounds < 12; rounds++) {
      world.settle();
      await world.tick();
      world.advance(2);
    }
    assert.equal(secretNamed(world, secretName), undefined);
  });

  test('is made in one step where the spec asks later, and nothing restarts', async () => {
    const world = await converged({ tls: { mode: 'Managed' } });
    assert.equal(secretNamed(world, secretName), undefined, 'unasked there is none');
    const starts = new Map(world.starts);
    await world.apply(enabled);
    const end = await tickUntilConverged(world);
    assert.deepEqual(acted(end.trail), ['IssuingCertificates'], end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(world.starts, starts);
  });

  test('at rest costs no read more, is looked at by turns, and comes back when it is deleted', async () => {
    const world = await converged(enabled);
    const seen = new Set<string>();
    for (let tick = 0; tick < 40; tick += 1) {
      const before = world.kube.journal().length;
      await world.tick();
      world.advance(60);
      const secrets = world.kube.journal().slice(before);
      const read = secrets.filter(({ resource }) => resource.plural === 'secrets');
      assert.ok(read.length > 0 && read.length <= 2, `${read.length} reads of Secrets`);
      for (const { name } of read) seen.add(name ?? '');
    }
    assert.ok(seen.has(secretName));
    deleteSecret(world, secretName);
    for (let tick = 0; tick < 40 && !secretNamed(world, secretName); tick += 1) {
      await world.tick();
      world.advance(60);
    }
    assertNameless(leafIn(world, secretName));
  });

  test('is renewed in time, and signed by the new CA when CAs are rotated', async () => {
    const world = await converged(enabled);
    world.state.watchful = true;
    const born = leafIn(world, secretName);
    world.advance(61 * days);
    const renewal = await tickUntilConverged(world);
    assert.deepEqual(acted(renewal.trail), ['RenewingCertificates'], renewal.trail.join('\n'));
    const renewed = leafIn(world, secretName);
    assert.notEqual(renewed.fingerprint, born.fingerprint);
    assert.equal(renewed.issuer, born.issuer);
    await askForRotation(world, '2026-01');
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.notEqual(leafIn(world, secretName).issuer, born.issuer);
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(world.violations, []);
  });

  test('left out again, is no longer looked after, and nothing is done', async () => {
    const world = await converged(enabled);
    const starts = new Map(world.starts);
    await world.apply({ tls: { mode: 'Managed', gatewayClient: 'Disabled' } });
    const end = await tickUntilConverged(world);
    assert.deepEqual(acted(end.trail), []);
    assert.ok(secretNamed(world, secretName), 'clients may have it mounted');
    assert.deepEqual(world.starts, starts);
  });

  test('is in the plan of the change that asks for it, alone', () => {
    const living = healthy(3, { certificates: managed(3) });
    const { spec } = living.cluster;
    const { steps } = planChange(living, { spec: { ...spec, ...enabled }, metadata: {} });
    assert.deepEqual(
      steps.map(({ action, target }) => [action, target]),
      [['issue-certificates', secretName]],
    );
    assert.ok(!plansOf(3).some((plan) => plan.secretName === secretName));
  });
});

describe('that an issuer of cert-manager signs', () => {
  test('is asked for without a common name, and the names that let in are told of no such request', async () => {
    const { world, said } = await asked();
    assert.deepEqual(restingNames(world), [true, true]);
    assertNameless(leafIn(world, secretName));
    const { spec } = certificateNamed(world) ?? assert.fail();
    assert.ok(!('commonName' in spec));
    assert.deepEqual(spec.dnsNames, gatewayLeaf({ namespace, cluster: 'orders' }).dnsNames);
    const requesting = said.filter((message) => message.startsWith('requesting'));
    assert.ok(requesting.length > 0 && requesting.some((message) => message.includes(secretName)));
    assert.ok(!requesting.some((message) => message.includes('with what members let in')), requesting.join('\n'));
  });

  test('is not handed over where the issuer put a common name into it; members go on', async () => {
    const { world, attend } = await asked();
    const starts = new Map(world.starts);
    const before = leafIn(world, secretName);
    const signer = await attend.authority(issuerRef.name);
    const notBefore = new Date(Math.floor((world.now() - 600_000) / 1000) * 1000);
    const named = { ...gatewayLeaf({ namespace, cluster: 'orders' }), commonName: 'orders' };
    const leaf = await issueLeaf(named, signer, { notBefore, notAfter: new Date(notBefore.getTime() + 90 * 86_400e3) });
    writeSecret(world, issuedName, leafData(leaf, [signer.certificate]));
    const found = certificateNamed(world) ?? assert.fail();
    const status = { ...found.status, revision: 7 };
    world.kube.seed<CertManagerCertificate>(certificateResource, { ...found, status });
    for (let tick = 0; tick < 6; tick += 1) {
      world.settle();
      await world.tick();
      world.advance(2);
    }
    const { reason, message = '' } = conditionOf(world.cluster()?.status, 'CertificatesReady') ?? {};
    assert.equal(reason, 'CertificateHasCommonName', message);
    assert.match(message, /orders-gateway-tls-issued has a common name.*Issuer company signed it.*cmctl renew/s);
    assert.equal(leafIn(world, secretName).fingerprint, before.fingerprint);
    assert.deepEqual(world.starts, starts);
  });
});

test('is not wanted where members let in names, whatever the spec says', () => {
  const cluster = { metadata: { name: 'orders', namespace }, spec: { ...healthy(1).cluster.spec, ...ofIssuer } };
  const own = ownNamesOf({ namespace, cluster: 'orders' });
  const purposes = [undefined, own].map((names) => leavesOfCluster(cluster, 'CertManager', names).map(purposeOf));
  assert.deepEqual(purposes, [
    ['reconciler', 'application', 'backup', 'gateway'],
    ['reconciler', 'application', 'backup'],
  ]);
  assert.deepEqual(leavesOfCluster(cluster, 'Provided').map(purposeOf), ['reconciler']);
});

function purposeOf({ purpose }: LeafPlan): LeafPlan['purpose'] {
  return purpose;
}

async function converged(spec: Partial<EtcdClusterSpec>): Promise<World> {
  const world = createWorld();
  await world.apply(spec);
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return world;
}

async function asked() {
  const world = createWorld();
  const attend = certManagerIn(world);
  await world.apply(ofIssuer);
  const said: string[] = [];
  for (let tick = 0; tick < 60; tick += 1) {
    world.settle();
    await attend.attend();
    const result = await world.tick();
    if (result && 'message' in result.decision) said.push(result.decision.message);
    world.advance(2);
    if (result?.decision.reason === 'Converged') return { world, attend, said };
  }
  return assert.fail(said.join('\n'));
}

function leafIn(world: World, name: string): LeafFacts {
  const found = inspectLeaf(secretData(world, name));
  return found.kind === 'readable' ? found.leaf : assert.fail(`${name}: ${found.kind}`);
}

function assertNameless({ commonName, dnsNames, usages }: LeafFacts): void {
  assert.equal(commonName, undefined);
  assert.deepEqual([dnsNames, usages], [[`gateway.orders.${namespace}.etcd-ratchet.invalid`], ['clientAuth']]);
}

function certificateNamed(world: World): CertManagerCertificate | undefined {
  return world.kube
    .stored<CertManagerCertificate>(certificateResource)
    .find(({ metadata }) => metadata.name === issuedName);
}

function restingNames(world: World): readonly boolean[] {
  const secrets = world.kube.stored<Secret>(resources.secrets).map(({ metadata }) => metadata.name);
  return [secretName, issuedName].map((name) => secrets.includes(name));
}

function acted(trail: readonly string[]): readonly string[] {
  return trail.filter((line) => line.endsWith(' acted')).map((line) => line.split(' ')[1] ?? '');
}
