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
const asking = {
  tls: { mode: 'CertManager', certManager: { issuerRef }, dnsNames: [bank, 'orders.shop.svc'] },
} as const;
const own = { tls: { mode: 'CertManager', certManager: { issuerRef } } } as const;

const namesAsked = (world: World) =>
  world.kube
    .stored<CertManagerCertificate>(certificateResource)
    .flatMap(({ spec }) => [...(spec.dnsNames ?? []), ...(spec.ipAddresses ?? [])]);

async function ticks(world: World, count: number, text = '', certManager = certManagerIn(world)) {
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

/** A cluster that was born while the installation let it have its name, and runs. */
async function running(spec: typeof asking | typeof ofTheirs = asking, text = allowed) {
  const world = createWorld();
  await world.apply(spec);
  const certManager = certManagerIn(world);
  await ticks(world, 12, text, certManager);
  return { world, certManager };
}

const allowed = 'ClusterIssuer/company=bank.example.com';
const ofTheirs = { tls: { ...asking.tls, certManager: { issuerRef: { name: 'theirs', kind: 'Issuer' } } } } as const;
const specs = ({ kube }: World) => kube.stored<CertManagerCertificate>(certificateResource).map(({ spec }) => spec);
const withBank = (world: World) => specs(world).filter(({ dnsNames }) => dnsNames?.includes(bank)).length;

test('a name that certificates have stays in when the setting goes, and is named as refused', async () => {
  const { world, certManager } = await running();
  const before = specs(world);
  assert.equal(withBank(world), 3);
  const status = await ticks(world, 4, '', certManager);
  assert.deepEqual(specs(world), before);
  const [told] = status?.refusals ?? [];
  assert.equal(told?.reason, 'CertificateNamesRefused');
  assert.match(told?.message ?? '', /bank\.example\.com.*keep.*until.*RATCHET_CERTIFICATE_NAMES/);
});

test('a name that stays in goes with its place in the spec, and does not come back', async () => {
  const { world, certManager } = await running();
  await world.apply(own);
  await ticks(world, 4, '', certManager);
  assert.equal(withBank(world), 0);
  await world.apply(asking);
  await ticks(world, 4, '', certManager);
  assert.equal(withBank(world), 0);
});

test('a kept name outlives another lifetime and lost labels, and not its Certificate', async () => {
  const { world, certManager } = await running();
  const [{ metadata, ...rest }] = world.kube
    .stored<CertManagerCertificate>(certificateResource)
    .filter(({ spec }) => spec.dnsNames?.includes(bank)) as [CertManagerCertificate];
  world.kube.seed<CertManagerCertificate>(certificateResource, { ...rest, metadata: { ...metadata, labels: {} } });
  await world.apply({ tls: { ...asking.tls, certificateLifetime: '48h' } });
  await ticks(world, 4, '', certManager);
  assert.ok(specs(world).every(({ duration }) => duration === '48h0m0s'));
  assert.equal(withBank(world), 3);
  const { namespace, name, uid = '' } = metadata;
  const signal = AbortSignal.timeout(5000);
  await world.kube.delete(certificateResource, namespace, name, { preconditions: { uid }, signal });
  await ticks(world, 4, '', certManager);
  assert.equal(specs(world).length, 9);
  assert.equal(withBank(world), 2);
});

test('a name that one issuer was let have is not taken along to another', async () => {
  const { world, certManager } = await running(ofTheirs, 'Issuer/theirs=*');
  assert.equal(withBank(world), 3);
  await world.apply(asking);
  await ticks(world, 4, 'Issuer/theirs=*', certManager);
  assert.ok(specs(world).every(({ issuerRef }) => issuerRef.name === 'company'));
  assert.equal(withBank(world), 0);
});

test('a member that joins gets no name that is refused by now', async () => {
  const { world, certManager } = await running();
  await world.apply({ ...asking, replicas: 5 });
  await ticks(world, 16, '', certManager);
  assert.equal(specs(world).length, 13);
  assert.equal(withBank(world), 3);
});

test('invocations with different settings do not write Certificates by turns', async () => {
  const { world, certManager } = await running();
  const before = world.kube.stored<CertManagerCertificate>(certificateResource);
  for (const text of ['', allowed, '', allowed]) await ticks(world, 1, text, certManager);
  assert.deepEqual(world.kube.stored<CertManagerCertificate>(certificateResource), before);
});

test('a plan takes no name out of certificates that have it', async () => {
  const { world } = await running();
  const { planned } = await world.plan({
    ...asking,
    tls: { ...asking.tls, dnsNames: [...asking.tls.dnsNames, 'x.io'] },
  });
  assert.deepEqual(
    planned?.refusals.map(({ message }) => /x\.io/.test(message)),
    [true],
  );
  assert.deepEqual(planned?.steps, []);
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

test('an order gets through with a name that our Certificate asks that very issuer for', async () => {
  for (const [change, isRefused] of [
    [{}, false],
    [{ issuer: 'theirs' }, true],
    [{ owner: 'another-uid' }, true],
  ] as const) {
    const { asking, kube, request } = byCertManager();
    const { requests, ...action } = request('company');
    const plan = requests.filter((order) => order.plan.purpose === 'server').slice(0, 1);
    await carryOut({ ...action, requests: plan }, asking, kube);
    const [written] = kube.stored<CertManagerCertificate>(certificateResource);
    assert.ok(written);
    const { metadata, spec, ...rest } = written;
    const [owner] = metadata.ownerReferences ?? [];
    assert.ok(owner);
    const { issuer = 'company', owner: uid = owner.uid } = { issuer: undefined, owner: undefined, ...change };
    const dnsNames = [...(spec.dnsNames ?? []), bank];
    const before: CertManagerCertificate = {
      ...rest,
      metadata: { ...metadata, ownerReferences: [{ ...owner, uid }] },
      spec: { ...spec, dnsNames, issuerRef: { ...spec.issuerRef, name: issuer } },
    };
    kube.seed(certificateResource, before);
    const forged = plan.map((order) => ({
      ...order,
      lifetime: order.lifetime / 2,
      plan: { ...order.plan, dnsNames: [...order.plan.dnsNames, bank] },
    }));
    const done = carryOut({ ...action, requests: forged }, asking, kube);
    if (isRefused) await assert.rejects(done, /which this installation does not let/);
    else await done;
    const [after] = kube.stored<CertManagerCertificate>(certificateResource);
    assert.equal(after?.spec.duration === spec.duration, isRefused);
    assert.deepEqual(after?.spec.dnsNames, dnsNames);
  }
});
