import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { KubeObject } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { type LeafPlan, ownNamesOf, userSecretName } from '../../../../manifests/render/certificate-names.ts';
import { planChange } from '../../../../reconcile/cluster/foresee/change.ts';
import { leavesOfUsers, wantedLeaves } from '../../../../reconcile/cluster/know/certificates/wanted.ts';
import { type Kube, KubeError, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { inspectLeaf, type LeafFacts } from '../../../../reconcile/x509/inspect.ts';
import {
  askForRotation,
  deleteSecret,
  restingFlaws,
  secretData,
  secretNamed,
} from '../../../support/world/applications.ts';
import { type CertManager, certManagerIn } from '../../../support/world/cert-manager.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { watchedUser } from '../../../support/world/invariants.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';
import { managed } from '../certificates.ts';
import { healthy } from '../observations.ts';

/** A client certificate for each user of etcd that the spec lists. */

const secretName = userSecretName('orders', watchedUser);
const issuedName = `${secretName}-issued`;
const other = userSecretName('orders', 'writer');
const days = 86_400;
const auth = { mode: 'Disabled', users: [{ name: 'orders-client' }, { name: watchedUser }] } as const;
const both = { ...auth, users: [...auth.users, { name: 'writer' }] } as const;
const plain = { tls: { mode: 'Managed' } } as const;
const listed: Partial<EtcdClusterSpec> = { ...plain, auth };
const issuerRef = { name: 'company' };
const ofIssuer: Partial<EtcdClusterSpec> = { tls: { mode: 'CertManager', certManager: { issuerRef } }, auth };

describe('that etcd-ratchet signs', () => {
  test('is there from the birth, in the same two steps as without it, and goes with the cluster', async () => {
    const world = createWorld();
    await world.apply(listed);
    const plan = await world.plan('keep');
    const end = await tickUntilConverged(world);
    assert.deepEqual(acted(end.trail).slice(0, 2), ['PreparingMembers', 'SealingMembers'], end.trail.join('\n'));
    assert.deepEqual(
      plan.planned?.steps.map(({ reason }) => reason),
      acted(end.trail),
    );
    assertOneCluster(world, 3);
    assert.deepEqual(restingFlaws(world), []);
    const { commonName, dnsNames, usages } = leafIn(world, secretName);
    assert.deepEqual([commonName, dnsNames, usages], [watchedUser, [], ['clientAuth']]);
    assert.deepEqual(usersSecrets(world), [secretName], 'that of applications is theirs already');
    assert.equal(leafIn(world, 'orders-client-tls').commonName, 'orders-client');
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

  test('is made in one step for a user that is listed later, and nothing restarts', async () => {
    const world = await converged(listed);
    const [starts, before] = [new Map(world.starts), leafIn(world, secretName)];
    await world.apply({ ...plain, auth: both });
    const end = await tickUntilConverged(world);
    assert.equal(acted(end.trail)[0], 'IssuingCertificates', end.trail.join('\n'));
    assert.equal(leafIn(world, other).commonName, 'writer');
    assert.equal(leafIn(world, secretName).fingerprint, before.fingerprint);
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(world.starts, starts);
  });

  test('at rest costs no read more, is looked at by turns, and comes back when it is deleted', async () => {
    const world = await converged(listed);
    const seen = new Set<string>();
    for (let tick = 0; tick < 40; tick += 1) {
      const before = world.kube.journal().length;
      await world.tick();
      world.advance(60);
      const read = world.kube
        .journal()
        .slice(before)
        .filter(({ resource }) => resource.plural === 'secrets');
      assert.ok(read.length > 0 && read.length <= 2, `${read.length} reads of Secrets`);
      for (const { name } of read) seen.add(name ?? '');
    }
    assert.ok(seen.has(secretName));
    assert.ok(!seen.has(other), 'only those of listed users are read');
    deleteSecret(world, secretName);
    for (let tick = 0; tick < 40 && !secretNamed(world, secretName); tick += 1) {
      await world.tick();
      world.advance(60);
    }
    assert.equal(leafIn(world, secretName).commonName, watchedUser);
  });

  test('is renewed in time, and signed by the new CA when CAs are rotated', async () => {
    const world = await converged(listed);
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

  test('is issued anew where its serial number is revoked', async () => {
    const world = await converged(listed);
    const { serial = '', fingerprint } = leafIn(world, secretName);
    await world.apply({ tls: { mode: 'Managed', revokedClientSerials: [serial] }, auth });
    await tickUntilConverged(world);
    assert.notEqual(leafIn(world, secretName).fingerprint, fingerprint);
  });

  test('of a user that is no longer listed, stays, and is no longer looked after', async () => {
    const world = await converged(listed);
    const starts = new Map(world.starts);
    await world.apply(plain);
    const end = await tickUntilConverged(world);
    assert.deepEqual(acted(end.trail), []);
    assert.ok(secretNamed(world, secretName), 'clients may have it mounted');
    assert.deepEqual(world.starts, starts);
  });

  test('that may not be written holds up neither the birth nor changes, and is named', async () => {
    const world = createWorld();
    denySecrets(world, other);
    await world.apply({ replicas: 1, ...plain, auth: both });
    const end = await tickUntilConverged(world);
    assertOneCluster(world, 1);
    assert.match(end.message, new RegExp(`denied the request for ${other}`), end.trail.join('\n'));
    assert.equal(leafIn(world, secretName).commonName, watchedUser, 'others are made');
    await world.apply({ replicas: 3, ...plain, auth: both });
    const grown = await tickUntilConverged(world, { limit: 200 });
    assertOneCluster(world, 3);
    assert.match(grown.message, new RegExp(`denied the request for ${other}`), grown.trail.join('\n'));
  });

  test('whose Secret belongs to another owner holds up no birth, and that Secret stays', async () => {
    const world = createWorld();
    const data = { 'tls.crt': 'dGhlaXJz' };
    world.kube.seed(resources.secrets, { metadata: { name: secretName, namespace }, ...{ data } });
    await world.apply({ ...plain, auth: both });
    const end = await tickUntilConverged(world);
    assertOneCluster(world, 3);
    assert.deepEqual([end.kind, end.reason], ['refuse', 'NameTaken'], end.trail.join('\n'));
    assert.match(end.message, new RegExp(`Secret ${secretName} belongs to another owner`));
    assert.deepEqual(secretData(world, secretName), data);
    assert.equal(leafIn(world, other).commonName, 'writer');
  });

  test('is in the plan of the change that lists its user', () => {
    const living = healthy(3, { certificates: managed(3) });
    const { spec } = living.cluster;
    const { steps } = planChange(living, { spec: { ...spec, ...listed }, metadata: {} });
    assert.deepEqual([steps[0]?.action, steps[0]?.target], ['issue-certificates', secretName]);
  });
});

const words = { fail: 'refuses', hold: 'never answers for' } as const;

describe('that an issuer of cert-manager signs', () => {
  test('is asked for with the name of its user, once members have theirs', async () => {
    const { world, certManager } = await byIssuer(ofIssuer);
    const { trail } = await settled(world, certManager);
    assert.deepEqual(acted(trail), [], 'it is at rest');
    const { spec } = certificateNamed(world, issuedName) ?? assert.fail();
    assert.equal(spec.commonName, watchedUser);
    assert.ok(!('dnsNames' in spec));
    assert.deepEqual(spec.usages, ['digital signature', 'client auth']);
    assert.equal(leafIn(world, secretName).fingerprint, leafIn(world, issuedName).fingerprint);
    const asked = certificateNamed(world, `${secretName}-issued`)?.metadata.ownerReferences?.map(({ uid }) => uid);
    assert.deepEqual(asked, [world.cluster()?.metadata.uid]);
  });

  test('is handed over anew where the issuer renews it, also of another CA', async () => {
    const { world, certManager } = await byIssuer(ofIssuer);
    world.state.watchful = true;
    const before = leafIn(world, secretName);
    certManager.renew(issuedName);
    const { trail } = await settled(world, certManager);
    assert.deepEqual(acted(trail), ['RenewingCertificates'], trail.join('\n'));
    const renewed = leafIn(world, secretName);
    assert.notEqual(renewed.fingerprint, before.fingerprint);
    await certManager.replaceAuthority(issuerRef.name);
    certManager.renew(...world.kube.stored<CertManagerCertificate>(certificateResource).map(nameOf));
    const end = await settled(world, certManager);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.notDeepEqual(leafIn(world, secretName).trust, renewed.trust);
    assert.deepEqual(world.violations, []);
  });

  for (const how of ['fail', 'hold'] as const) {
    test(`holds up neither birth nor growth where the issuer ${words[how]} it, and is named`, async () => {
      const world = createWorld();
      const certManager = certManagerIn(world);
      certManager.answer(how, issuedName);
      await world.apply({ replicas: 1, ...ofIssuer });
      for (const replicas of [1, 3]) {
        await world.apply({ replicas, ...ofIssuer });
        await ticks(world, certManager, 30);
        assertOneCluster(world, replicas);
        assert.equal(secretNamed(world, secretName), undefined);
        const { status, message = '' } = conditionOf(world.cluster()?.status, 'CertificatesReady') ?? {};
        assert.equal(status, 'False');
        assert.match(message, new RegExp(issuedName));
      }
      certManager.answer('issue');
      certManager.renew(issuedName);
      const end = await settled(world, certManager);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.equal(leafIn(world, secretName).commonName, watchedUser);
    });
  }

  test('holds up neither birth nor growth where cert-manager takes no request for it', async () => {
    const world = createWorld();
    const certManager = certManagerIn(world);
    deny(world, certificateResource, issuedName);
    for (const replicas of [1, 3]) {
      await world.apply({ replicas, ...ofIssuer });
      await ticks(world, certManager, 30);
      assertOneCluster(world, replicas);
      const { message = '' } = conditionOf(world.cluster()?.status, 'Ready') ?? {};
      assert.match(message, new RegExp(`denied the request for ${issuedName}`));
    }
  });
});

test('of members that let in names has the name of clients, and nothing else is planned of it', () => {
  const cluster = { ...healthy(1).cluster, spec: { ...healthy(1).cluster.spec, ...ofIssuer } };
  const own = ownNamesOf({ namespace, cluster: 'orders' });
  const named = leavesOfUsers(cluster, 'CertManager', own);
  assert.deepEqual(named.map(asPlanned), [[secretName, watchedUser, [own.clients], undefined]]);
  const [ahead] = leavesOfUsers(cluster, 'CertManager', { ...own, since: 'Ahead' });
  assert.equal(ahead?.ahead, own.clients);
  assert.deepEqual(leavesOfUsers(cluster, 'Provided'), []);
  assert.deepEqual(leavesOfUsers(cluster, 'Disabled'), []);
});

test('is wanted after those of members, whether authentication is on or off', () => {
  const { cluster, slots } = healthy(1);
  const names = (['Enabled', 'Disabled'] as const).map((mode) => {
    const asked = { ...cluster, spec: { ...cluster.spec, ...plain, auth: { ...both, mode } } };
    return wantedLeaves(asked, slots, 'Managed').map((plan) => plan.secretName);
  });
  assert.deepEqual(names[0], names[1]);
  assert.deepEqual(names[0]?.slice(-3), ['orders-0-server-tls', secretName, other]);
});

function asPlanned({ secretName: name, commonName, dnsNames, ahead }: LeafPlan) {
  return [name, commonName, dnsNames, ahead];
}

async function converged(spec: Partial<EtcdClusterSpec>): Promise<World> {
  const world = createWorld();
  await world.apply(spec);
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return world;
}

async function byIssuer(spec: Partial<EtcdClusterSpec>) {
  const world = createWorld();
  const certManager = certManagerIn(world);
  await world.apply(spec);
  const end = await settled(world, certManager);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return { world, certManager };
}

function settled(world: World, certManager: CertManager) {
  return tickUntilConverged(world, { limit: 400, meanwhile: () => certManager.attend() });
}

async function ticks(world: World, certManager: CertManager, count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) {
    world.settle();
    await certManager.attend();
    await world.tick();
    world.advance(2);
  }
  assert.deepEqual(world.violations, []);
}

/** A policy denies an object of this name. */
function deny(world: World, kind: Pick<Resource, 'plural'>, name: string): void {
  const { create } = world.kube;
  const judged: Kube['create'] = async (resource, object, options) => {
    if (resource.plural === kind.plural && (object as KubeObject).metadata.name === name) {
      const message = `admission webhook "policy" denied the request for ${name}`;
      throw new KubeError(message, { class: 'terminal', status: 403, reason: 'Forbidden' });
    }
    return create(resource, object, options);
  };
  Object.assign(world.kube, { create: judged });
}

function denySecrets(world: World, name: string): void {
  deny(world, resources.secrets, name);
}

function leafIn(world: World, name: string): LeafFacts {
  const found = inspectLeaf(secretData(world, name));
  return found.kind === 'readable' ? found.leaf : assert.fail(`${name}: ${found.kind}`);
}

function usersSecrets(world: World): readonly string[] {
  return world.kube.stored(resources.secrets).flatMap(({ metadata: { name } }) => (name.includes('.') ? [name] : []));
}

function certificateNamed(world: World, name: string): CertManagerCertificate | undefined {
  return world.kube.stored<CertManagerCertificate>(certificateResource).find(({ metadata }) => metadata.name === name);
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function acted(trail: readonly string[]): readonly string[] {
  return trail.filter((line) => line.endsWith(' acted')).map((line) => line.split(' ')[1] ?? '');
}
