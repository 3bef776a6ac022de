import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertificateRequest,
  certificateRequestResource,
} from '../../../../manifests/render/cert-manager-request.ts';
import { readAllowances } from '../../../../manifests/render/certificate-allowance.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { chainOf } from '../../../../reconcile/x509/chain.ts';
import { factsOf } from '../../../../reconcile/x509/facts.ts';
import { intermediateKey } from '../../../../reconcile/x509/intermediate.ts';
import { askForRotation, authorityOf, restingFlaws, secretData } from '../../../support/world/applications.ts';
import { type CertManager, certManagerIn } from '../../../support/world/cert-manager.ts';
import { assertOneCluster } from '../../../support/world/converge.ts';
import { crashesIn, killer, squares, text } from '../../../support/world/crash.ts';
import { leafIn } from '../../../support/world/tls.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** A cluster with CAs of its own, of which an issuer that others use too signs the one for clients. */

const issuerRef = { name: 'company', kind: 'ClusterIssuer' } as const;
const signed = { tls: { mode: 'Managed', managed: { issuerRef }, rotationOverlap: '30s' } } as const;
const alone = { tls: { mode: 'Managed', rotationOverlap: '30s' } } as const;
const allowed = 'ClusterIssuer/company=CA:TRUE';
const days = 86_400;

interface Stage {
  readonly world: World;
  readonly certManager: CertManager;
}

async function ticks({ world, certManager }: Stage, count: number, { text: setting = allowed } = {}) {
  const { allowances: nameAllowances } = readAllowances(setting);
  for (let tick = 0; tick < count; tick++) {
    await certManager.attend();
    world.settle();
    await world.tick({}, { nameAllowances });
    assert.deepEqual(world.violations, []);
    world.advance(2);
  }
}

async function born(spec: Partial<EtcdClusterSpec> = signed, setting = allowed): Promise<Stage> {
  const world = createWorld();
  const stage = { world, certManager: certManagerIn(world) };
  await world.apply(spec);
  await ticks(stage, 16, { text: setting });
  return stage;
}

const requestsOf = ({ kube }: World) => kube.stored<CertificateRequest>(certificateRequestResource);
const conditionOf = (world: World, type: string) =>
  world.cluster()?.status?.conditions?.find((one) => one.type === type);
const told = (world: World, type = 'CertificatesReady') => {
  const found = conditionOf(world, type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};
const servers = [0, 1, 2].map((n) => `orders-${n}-server-tls`);
const leafOf = (world: World, name: string) => leafIn(world.state, secretData(world, name)) ?? assert.fail(name);

/** Whether a client of the company's CA alone can verify each member: as Go does it, and as OpenSSL. */
async function companyFlaws({ world, certManager }: Stage): Promise<readonly string[]> {
  const company = factsOf(new X509Certificate((await certManager.authority('company')).certificate));
  return servers.flatMap((name) => {
    const leaf = leafOf(world, name);
    const now = new Date(world.now());
    const { intermediates } = leaf;
    const chain = chainOf({ leaf, intermediates, trust: [company], usages: ['serverAuth'], now, skewMs: 0 });
    if (chain.kind === 'adrift') return [`${name}: ${chain.why}`];
    // OpenSSL takes the first of a name, and never turns back.
    let at: { readonly issuer: string } = leaf;
    for (let depth = 0; depth < 4 && at.issuer !== company.subject; depth++) {
      const next = intermediates.find(({ subject }) => subject === at.issuer);
      if (!next) return [`${name}: OpenSSL finds no "${at.issuer}"`];
      at = next;
    }
    return at.issuer === company.subject ? [] : [`${name}: OpenSSL goes round`];
  });
}

describe('a client CA that an issuer signs as well', () => {
  test('at a birth: members trust their own CAs alone, and the issuer’s clients verify them', async () => {
    const stage = await born();
    const { world } = stage;
    assert.equal(conditionOf(world, 'CertificatesReady')?.reason, 'Served', told(world));
    assertOneCluster(world, 3);
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(await companyFlaws(stage), []);
    assert.deepEqual(requestsOf(world), [], 'what was answered goes');
    const mine = leafOf(world, 'orders-reconciler-tls');
    assert.equal(mine.chainLength, 1, 'members trust our CA: our leaf needs nothing behind it');
  });

  test('the request is for a CA, of the cluster’s own key, and goes with the cluster', async () => {
    const world = createWorld();
    const stage = { world, certManager: certManagerIn(world) };
    stage.certManager.answerRequests('hold');
    await world.apply(signed);
    await ticks(stage, 12);
    const [request, ...others] = requestsOf(world);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [request?.spec.isCA, request?.spec.usages, request?.spec.issuerRef],
      [true, ['cert sign', 'crl sign'], { ...issuerRef, group: 'cert-manager.io' }],
    );
    assert.equal(request?.metadata.ownerReferences?.[0]?.uid, world.cluster()?.metadata.uid);
    assert.match(told(world), /^False AwaitingCertificates: ClusterIssuer\/company has not signed the client CA yet/);
    assert.equal(conditionOf(world, 'Available')?.status, 'True', 'no start waits for it');
  });

  test('of a cluster that runs: nothing restarts, and no trust changes', async () => {
    const stage = await born(alone);
    const { world } = stage;
    const [starts, ca] = [new Map(world.starts), authorityOf(world, 'client').fingerprint];
    const { planned } = await world.plan(signed, { nameAllowances: readAllowances(allowed).allowances });
    assert.deepEqual(
      planned?.steps.map(({ reason }) => reason),
      ['RequestingCertificates', 'IssuingCertificates', 'RenewingCertificates'],
    );
    await world.apply(signed);
    await ticks(stage, 10);
    assert.deepEqual(await companyFlaws(stage), []);
    assert.deepEqual(new Map(world.starts), starts);
    assert.equal(authorityOf(world, 'client').fingerprint, ca);
    assert.deepEqual(restingFlaws(world), []);
  });

  test('through a rotation of the CAs the issuer’s clients can verify every member at every moment', async () => {
    const stage = await born();
    const { world } = stage;
    world.state.watchful = true;
    const ca = authorityOf(world, 'client').fingerprint;
    const first = leafOf(world, 'orders-0-server-tls').fingerprint;
    await askForRotation(world, '2026-01');
    for (let tick = 0; tick < 60; tick++) {
      await ticks(stage, 1);
      assert.deepEqual(await companyFlaws(stage), [], `in tick ${tick}`);
    }
    assert.notEqual(authorityOf(world, 'client').fingerprint, ca);
    assert.notEqual(leafOf(world, 'orders-0-server-tls').fingerprint, first);
    assert.equal(authorityOf(world, 'client').intermediate?.current, true, 'the new one is signed as well');
    assert.deepEqual(restingFlaws(world), []);
    assert.equal(conditionOf(world, 'CertificatesReady')?.reason, 'Served', told(world));
  });

  test('is signed again after two thirds of its life, without a restart', async () => {
    const stage = await born({ tls: { ...signed.tls, managed: { issuerRef, authorityLifetime: '8760h' } } });
    const { world } = stage;
    const starts = new Map(world.starts);
    const first = authorityOf(world, 'client').intermediate?.chain[0];
    assert.ok(first);
    // The CA is rotated at the same time: it is as old.
    world.advance(245 * days);
    await ticks(stage, 80);
    const [second] = authorityOf(world, 'client').intermediate?.chain ?? [];
    assert.notEqual(second?.fingerprint, first.fingerprint);
    assert.deepEqual(await companyFlaws(stage), []);
    assert.ok([...world.starts].every(([pod, count]) => count <= (starts.get(pod) ?? 0) + 1));
  });

  test('of another issuer: the chain of the one before stays until that one has signed', async () => {
    const stage = await born();
    const { world, certManager } = stage;
    certManager.answerRequests('hold');
    const other = { ...issuerRef, name: 'other' };
    await world.apply({ tls: { ...signed.tls, managed: { issuerRef: other } } });
    await ticks(stage, 6, { text: 'ClusterIssuer/*=CA:TRUE' });
    assert.deepEqual(await companyFlaws(stage), []);
    certManager.answerRequests('sign');
    await ticks(stage, 8, { text: 'ClusterIssuer/*=CA:TRUE' });
    const [now] = authorityOf(world, 'client').intermediate?.chain ?? [];
    assert.match(now?.issuer ?? '', /^CN=other /);
  });
});

describe('an issuer that does not sign CAs', () => {
  for (const [how, words] of [
    ['deny', /Policy: no policy approved this request/],
    ['fail', /Failed: the role does not allow CAs/],
    ['leaf', /what ClusterIssuer\/company signed for the client CA is not the certificate of a CA/],
  ] as const) {
    test(`${how}: it is told with the cure, the cluster serves, and it is asked again after an hour`, async () => {
      const world = createWorld();
      const stage = { world, certManager: certManagerIn(world) };
      stage.certManager.answerRequests(how);
      await world.apply(signed);
      await ticks(stage, 16);
      assert.match(told(world), /^False IssuanceFailed: /);
      assert.match(told(world), words);
      assert.match(
        told(world),
        /To go on: let ClusterIssuer\/company sign CAs.*delete certificaterequest orders-client-ca-/,
      );
      assert.match(told(world, 'Stalled'), /^True IssuanceFailed/);
      assert.equal(conditionOf(world, 'Available')?.status, 'True');
      assert.deepEqual(restingFlaws(world), []);
      const [refused] = requestsOf(world);
      await ticks(stage, 4);
      assert.equal(requestsOf(world)[0]?.metadata.uid, refused?.metadata.uid, 'it is left for people to read');
      stage.certManager.answerRequests('sign');
      world.advance(3600);
      await ticks(stage, 8);
      assert.deepEqual(await companyFlaws(stage), []);
      assert.equal(conditionOf(world, 'CertificatesReady')?.reason, 'Served', told(world));
    });
  }

  test('says nothing for two minutes: it is named, and once it signs all is well', async () => {
    const world = createWorld();
    const stage = { world, certManager: certManagerIn(world) };
    stage.certManager.answerRequests('hold');
    await world.apply(signed);
    await ticks(stage, 12);
    world.advance(121);
    await ticks(stage, 2);
    assert.match(told(world), /^False CertManagerSilent: .*is not approved yet/);
    stage.certManager.answerRequests('sign');
    await ticks(stage, 8);
    assert.deepEqual(await companyFlaws(stage), []);
  });
});

describe('an issuer that brings along more than a leaf can bear', () => {
  const long = async ({ world, certManager }: Stage) => {
    const root = (await certManager.authority('company')).certificate;
    for (const one of requestsOf(world).filter(({ status }) => status?.certificate !== undefined)) {
      const certificate = withRoots(one.status?.certificate ?? '', root);
      world.kube.seed<CertificateRequest>(certificateRequestResource, {
        ...one,
        status: { ...one.status, certificate },
      });
    }
  };
  const withRoots = (certificate: string, root: string, total = 16) => {
    const pems = Buffer.from(certificate, 'base64')
      .toString()
      .split(/(?=-----BEGIN)/);
    return Buffer.from(`${pems.join('')}${root.repeat(total - pems.length)}`).toString('base64');
  };

  test('is told with the cure, and the cluster is scaled all the same', async () => {
    const stage = await born(alone);
    const { world } = stage;
    await world.apply(signed);
    for (let tick = 0; tick < 40; tick++) {
      await stage.certManager.attend();
      await long(stage);
      await ticks(stage, 1);
      if (tick === 10) await world.apply({ ...signed, replicas: 5 });
    }
    assert.match(told(world), /^False IssuanceFailed: .* holds 16 certificates, and may hold 5 at most.*To go on: /);
    assertOneCluster(world, 5);
    assert.equal(leafOf(world, 'orders-0-server-tls').chainLength, 1);
  });

  test('keeps its cluster from no step, where an earlier version took it', async () => {
    const stage = await born();
    const { world } = stage;
    const root = (await stage.certManager.authority('company')).certificate;
    const stored = world.kube.stored<Secret>(resources.secrets);
    for (const [name, key, total] of [
      ['orders-client-ca', intermediateKey, 16],
      ...servers.map((one) => [one, 'tls.crt', 17] as const),
    ] as const) {
      const secret = stored.find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
      const data = { ...secret.data, [key]: withRoots(secret.data?.[key] ?? '', root, total) };
      world.kube.seed<Secret>(resources.secrets, { ...secret, data });
    }
    await world.apply({ ...signed, replicas: 5 });
    await ticks(stage, 50);
    assertOneCluster(world, 5);
    assert.deepEqual(await companyFlaws(stage), []);
    assert.equal(conditionOf(world, 'CertificatesReady')?.reason, 'Served', told(world));
  });
});

describe('what an issuer is not asked for', () => {
  for (const setting of ['', '*/*=*,*.example.com', 'ClusterIssuer/other=CA:TRUE', 'Issuer/company=CA:TRUE']) {
    test(`a CA, where the installation lists "${setting}": a CA can sign any name`, async () => {
      const { world } = await born(signed, setting);
      assert.deepEqual(requestsOf(world), []);
      assert.match(
        told(world),
        /^False CertificateNamesRefused: .*list ClusterIssuer\/company=CA:TRUE in RATCHET_CERTIFICATE_NAMES/,
      );
      assert.equal(conditionOf(world, 'Available')?.status, 'True');
      const { planned } = await world.plan(signed);
      assert.equal(planned?.end.reason, 'CertificateNamesRefused', 'a plan says it before the merge');
    });
  }

  test('anything, by a name that another owner has: that is left alone', async () => {
    const world = createWorld();
    const stage = { world, certManager: certManagerIn(world) };
    stage.certManager.answerRequests('hold');
    await world.apply(signed);
    await ticks(stage, 12);
    const [request] = requestsOf(world);
    assert.ok(request);
    const { ownerReferences: _, ...metadata } = request.metadata;
    const theirs = { ...request, metadata: { ...metadata, uid: 'theirs' } };
    world.kube.seed<CertificateRequest>(certificateRequestResource, theirs);
    stage.certManager.answerRequests('sign');
    await ticks(stage, 4);
    assert.match(told(world), /^False NameTaken: CertificateRequest .* belongs to another owner/);
    assert.equal(requestsOf(world)[0]?.metadata.uid, 'theirs');
    assert.equal(authorityOf(world, 'client').intermediate, undefined);
  });
});

describe('whatever write an invocation dies at', () => {
  const dying = async () => {
    const stage = await born(alone);
    await stage.world.apply(signed);
    return stage;
  };
  const begun = dying();

  for (const crash of squares(crashesIn(11), 'black')) {
    test(`the CA comes to be signed, and trust stays: ${text(crash)}`, async () => {
      const { world: first, certManager } = await begun;
      const world = first.fork();
      const stage = { world, certManager: certManager.fork(world) };
      const dies = killer(crash);
      for (let tick = 0; tick < 20; tick++) {
        await stage.certManager.attend();
        world.settle();
        await world.tick(dies, { nameAllowances: readAllowances(allowed).allowances });
        world.advance(15);
      }
      assert.ok(dies.struck(), `${dies.writes()} writes`);
      assert.deepEqual(world.violations, []);
      assert.deepEqual(await companyFlaws(stage), []);
      assert.deepEqual(restingFlaws(world), []);
    });
  }
});
