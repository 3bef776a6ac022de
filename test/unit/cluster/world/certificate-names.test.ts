import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { readAllowances } from '../../../../manifests/render/certificate-allowance.ts';
import { certManagerIn } from '../../../support/world/cert-manager.ts';
import { createWorld, type World } from '../../../support/world/world.ts';
import { byCertManager } from '../actions/certificates-on-kube.ts';
import { carryOut } from '../actions/on-kube.ts';

/** A spec whose author asks an issuer, which signs for a whole company, for a name that is not the cluster's. */

const issuerRef = { name: 'company', kind: 'ClusterIssuer' } as const;
const bank = 'bank.example.com';
const asking = { tls: { mode: 'CertManager', issuerRef, dnsNames: [bank, 'orders.shop.svc'] } } as const;
const own = { tls: { mode: 'CertManager', issuerRef } } as const;

const namesAsked = (world: World) =>
  world.kube
    .stored<CertManagerCertificate>(certificateResource)
    .flatMap(({ spec }) => [...(spec.dnsNames ?? []), ...(spec.ipAddresses ?? [])]);

async function ticks(world: World, count: number, text = '') {
  const certManager = certManagerIn(world);
  const { allowances } = readAllowances(text);
  for (let tick = 0; tick < count; tick++) {
    await certManager.attend();
    world.settle();
    await world.tick({}, { nameAllowances: allowances });
    world.advance(2);
  }
  return world.cluster()?.status;
}

test('a cluster that asks for a name of others is not born, and says what would make it go on', async () => {
  const world = createWorld();
  await world.apply(asking);
  const status = await ticks(world, 5);
  assert.deepEqual(namesAsked(world), []);
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.equal(stalled?.reason, 'CertificateNamesRefused');
  assert.match(stalled?.message ?? '', /ClusterIssuer company for bank\.example\.com.*RATCHET_CERTIFICATE_NAMES/);
});

test('a cluster that runs asks for its own names still, and is healed; the refusal is named', async () => {
  const world = createWorld();
  await world.apply(own);
  await ticks(world, 12);
  await world.apply(asking);
  const status = await ticks(world, 6);
  assert.ok(namesAsked(world).length > 0 && !namesAsked(world).includes(bank));
  assert.deepEqual(
    status?.refusals?.map(({ reason, field }) => [reason, field]),
    [['CertificateNamesRefused', 'spec.tls.dnsNames']],
  );
});

test('where the installation allows the name for that issuer, it is asked for', async () => {
  const world = createWorld();
  await world.apply(asking);
  await ticks(world, 5, 'ClusterIssuer/company=bank.example.com');
  assert.ok(namesAsked(world).includes(bank));
});

test('a plan says it before the merge', async () => {
  const world = createWorld();
  const { planned } = await world.plan(asking);
  assert.deepEqual(
    planned?.refusals.map(({ reason }) => reason),
    ['CertificateNamesRefused'],
  );
});

test('whatever an order says, no Certificate with such a name is written', async () => {
  const { asking, kube, request } = byCertManager();
  const { requests, ...action } = request('company');
  for (const names of [{ dnsNames: [bank] }, { ipAddresses: ['10.96.0.1'] }]) {
    const forged = requests.slice(0, 1).map((order) => ({ ...order, plan: { ...order.plan, ...names } }));
    await assert.rejects(
      carryOut({ ...action, requests: forged }, asking, kube),
      /which this installation does not let/,
    );
  }
  assert.deepEqual(kube.stored(certificateResource), []);
});
