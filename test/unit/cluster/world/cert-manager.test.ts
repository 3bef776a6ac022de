import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Secret, StatefulSet } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { inspectLeaf, type LeafFacts } from '../../../../reconcile/x509/inspect.ts';
import { rememberClient } from '../../../support/world/applications.ts';
import { type CertManager, certManagerIn } from '../../../support/world/cert-manager.ts';
import { assertOneCluster } from '../../../support/world/converge.ts';
import { crashesIn, killer, sample } from '../../../support/world/crash.ts';
import type { Faults } from '../../../support/world/invocation.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

const byCertManager: Partial<EtcdClusterSpec> = {
  tls: {
    mode: 'CertManager',
    certManager: { issuerRef: { name: 'company' }, peerIssuerRef: { name: 'etcd' } },
    rotationOverlap: '30s',
  },
};
const peerLeaves = ['orders-0-peer-tls', 'orders-1-peer-tls', 'orders-2-peer-tls'];
const leaves = [
  'orders-client-tls',
  'orders-backup-tls',
  'orders-reconciler-tls',
  ...peerLeaves,
  ...[0, 1, 2].map((n) => `orders-${n}-server-tls`),
];
const issued = (name: string) => `${name}-issued`;

test('a birth asks for every leaf and waits for all; the requests go with their owners', async () => {
  const { world, certManager } = await asked();
  await until(world, certManager, 'Converged');
  assertOneCluster(world, 3);
  assert.deepEqual(
    certificates(world)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
    leaves.map(issued).toSorted(),
  );
  for (const { metadata, spec } of certificates(world)) {
    assert.equal(spec.secretName, metadata.name);
    assert.equal(spec.issuerRef.name, metadata.name.includes('peer-tls') ? 'etcd' : 'company');
    assert.deepEqual(
      secret(world, metadata.name)?.metadata.ownerReferences?.map(({ uid }) => uid),
      [metadata.uid],
    );
  }
  for (const name of leaves) {
    assert.equal(leafOf(world, name).fingerprint, leafOf(world, issued(name)).fingerprint, name);
    assert.equal(leafOf(world, name).trust.length, 1, 'peers and clients are apart');
  }
  await world.remove();
  for (let rounds = 0; rounds < 12; rounds++) {
    world.settle();
    await world.tick();
    world.advance(2);
  }
  assert.deepEqual(world.kube.stored<Secret>(resources.secrets), []);
  assert.deepEqual(certificates(world), []);
});

test('what is held is waited for in the words of cert-manager, and nothing starts before', async () => {
  const { world, certManager } = await asked();
  certManager.answer('hold', issued('orders-1-peer-tls'));
  const waiting = await until(world, certManager, 'AwaitingCertificates', 8);
  assert.match(waiting, /orders-1-peer-tls-issued of Issuer etcd yet: DoesNotExist: Issuing certificate as Secret/);
  assert.deepEqual(world.kube.stored<StatefulSet>(resources.statefulSets), []);
  certManager.answer('issue');
  await until(world, certManager, 'Converged');
});

test('what is refused names the issuer and its words, and is cured', async () => {
  const { world, certManager } = await asked();
  certManager.answer('fail', issued('orders-reconciler-tls'));
  const refused = await until(world, certManager, 'IssuanceFailed');
  assert.match(refused, /Issuer company does not issue orders-reconciler-tls-issued: Failed: .*no budget/);
  assert.deepEqual(world.kube.stored<StatefulSet>(resources.statefulSets), []);
  certManager.answer('issue');
  await until(world, certManager, 'Converged');
});

test('a cert-manager that says nothing is waited for two minutes, then named', async () => {
  const { world } = await asked();
  const nobody: Pick<CertManager, 'attend'> = { attend: async () => {} };
  const waiting = await until(world, nobody, 'AwaitingCertificates');
  assert.match(waiting, /has not looked at Certificate/);
  const silent = await until(world, nobody, 'CertManagerSilent', 120);
  assert.match(silent, /of Issuer company/);
});

test('a foreign Secret is neither asked for nor written, and named', async () => {
  const { world, certManager } = await asked();
  const theirs = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: issued('orders-0-peer-tls'), namespace },
    type: 'Opaque',
    data: { password: 'c2VjcmV0' },
  };
  world.kube.seed<Secret>(resources.secrets, theirs);
  const refused = await until(world, certManager, 'NameTaken');
  assert.match(refused, /Secret orders-0-peer-tls-issued belongs to another owner/);
  assert.deepEqual(secret(world, issued('orders-0-peer-tls'))?.data, theirs.data);
  assert.ok(!certificates(world).some(({ metadata }) => metadata.name === issued('orders-0-peer-tls')));
  world.kube.remove(resources.secrets, namespace, issued('orders-0-peer-tls'));
  await until(world, certManager, 'Converged');
});

test('a foreign Certificate is left alone and named', async () => {
  const { world, certManager } = await asked();
  const theirs = {
    metadata: { name: issued('orders-client-tls'), namespace },
    spec: { secretName: 'x', issuerRef: { name: 'y' }, commonName: 'theirs' },
  };
  world.kube.seed<CertManagerCertificate>(certificateResource, theirs);
  // Nobody needs the applications' Secret to start a member.
  const refused = await until(world, certManager, 'NameTaken');
  assert.match(refused, /Certificate orders-client-tls-issued belongs to another owner/);
  assertOneCluster(world, 3);
});

describe('a cluster that runs', () => {
  test('gets a renewed leaf of the same CA at once, and nothing restarts', async () => {
    const { world, certManager } = await running();
    const starts = new Map(world.starts);
    const before = leafOf(world, 'orders-2-server-tls').fingerprint;
    certManager.renew(issued('orders-2-server-tls'));
    await until(world, certManager, 'RenewingCertificates');
    await until(world, certManager, 'Converged');
    assert.notEqual(leafOf(world, 'orders-2-server-tls').fingerprint, before);
    assert.deepEqual(world.starts, starts);
  });

  test('waits with a leaf that begins just now until it has begun by every clock', async () => {
    const { world, certManager } = await running();
    certManager.backdate(0);
    const name = 'orders-0-server-tls';
    const before = leafOf(world, name).fingerprint;
    certManager.renew(issued(name));
    await ticks(world, certManager, 3);
    assert.notEqual(leafOf(world, issued(name)).fingerprint, before);
    assert.equal(leafOf(world, name).fingerprint, before);
    assert.equal(world.cluster()?.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    world.advance(5 * 60);
    await until(world, certManager, 'RenewingCertificates', 2);
    await until(world, certManager, 'Converged');
    assert.equal(leafOf(world, name).fingerprint, leafOf(world, issued(name)).fingerprint);
  });

  test('renews in time, by the dates alone', async () => {
    const { world, certManager } = await running();
    const before = leaves.map((name) => leafOf(world, name).notAfter.getTime());
    world.advance(61 * 24 * 3600);
    await until(world, certManager, 'Converged');
    await until(world, certManager, 'Converged');
    for (const [index, name] of leaves.entries()) {
      assert.ok(leafOf(world, name).notAfter.getTime() > (before[index] ?? 0), name);
    }
  });

  for (const order of ['one leaf after the other', 'all at once'] as const) {
    test(`follows a CA that was replaced, ${order}, while all can talk to each other`, async () => {
      const { world, certManager } = await running();
      const old = leafOf(world, 'orders-0-peer-tls').trust;
      await certManager.replaceAuthority('etcd');
      if (order === 'all at once') certManager.renew(...peerLeaves.map(issued));
      else {
        for (const name of peerLeaves) {
          certManager.renew(issued(name));
          await ticks(world, certManager, 12);
        }
      }
      await until(world, certManager, 'Converged', 200);
      for (const name of peerLeaves) {
        const { fingerprint, trust } = leafOf(world, name);
        assert.equal(fingerprint, leafOf(world, issued(name)).fingerprint, name);
        assert.equal(trust.length, 1, 'the old CA has gone');
        assert.notDeepEqual(trust, old);
      }
      assertOneCluster(world, 3);
    });
  }

  test('waits for a member whose files stay what they were, by its name, and ends when they follow', async () => {
    const { world, certManager } = await running();
    await certManager.replaceAuthority('etcd');
    certManager.renew(...peerLeaves.map(issued));
    await until(world, certManager, 'RollingConfiguration', 60);
    world.state.neglected.add(`${namespace}/orders-2-0`);
    await ticks(world, certManager, 150);
    assert.equal(leafOf(world, 'orders-2-peer-tls').trust.length, 2, 'the old CA stays trusted');
    const said = await until(world, certManager, 'LoadingAuthorities', 1);
    assert.match(said, /; orders-2 does not present the certificate in orders-2-peer-tls yet$/);
    world.advance(3600);
    await ticks(world, certManager, 1);
    assert.match(
      conditionOf(world.cluster()?.status, 'Stalled')?.message ?? '',
      /orders-2-peer-tls yet. To go on: see why .*delete its pod once$/,
    );
    world.state.neglected.clear();
    world.state.changes += 1;
    await until(world, certManager, 'Converged', 100);
    assert.equal(leafOf(world, 'orders-2-peer-tls').trust.length, 1);
    assertOneCluster(world, 3);
  });

  test('gives applications that read their Secret again now and then the time to follow', async () => {
    const { world, certManager } = await running();
    let looks = 0;
    const attend = async () => {
      // Every twenty seconds, and thirty is the overlap.
      if (looks % 10 === 0) rememberClient(world, 'an application');
      looks += 1;
      await certManager.attend();
    };
    await certManager.replaceAuthority('company');
    certManager.renew(...leaves.filter((name) => !name.includes('peer')).map(issued));
    await until(world, { attend }, 'RotatingAuthorities');
    await until(world, { attend }, 'Converged', 300);
    assert.equal(leafOf(world, 'orders-1-server-tls').trust.length, 1);
    assert.equal(
      leafOf(world, 'orders-client-tls').fingerprint,
      leafOf(world, issued('orders-client-tls')).fingerprint,
    );
    assertOneCluster(world, 3);
  });

  test('moves to another issuer that the spec names, and stays where it is while that one refuses', async () => {
    const { world, certManager } = await running();
    certManager.answer('fail');
    await world.apply({
      tls: { ...byCertManager.tls, certManager: { issuerRef: { name: 'other' }, peerIssuerRef: { name: 'other' } } },
    });
    const refused = await until(world, certManager, 'IssuanceFailed');
    assert.match(refused, /Issuer other/);
    const starts = new Map(world.starts);
    await ticks(world, certManager, 10);
    assert.deepEqual(world.starts, starts, 'nobody was restarted for it');
    certManager.answer('issue');
    await until(world, certManager, 'Converged', 300);
    assert.equal(leafOf(world, 'orders-1-server-tls').issuer, leafOf(world, 'orders-1-peer-tls').issuer);
  });

  test('keeps what it has when its Certificates are deleted, and asks again', async () => {
    const { world, certManager } = await running();
    const starts = new Map(world.starts);
    for (const { metadata } of certificates(world)) world.kube.remove(certificateResource, namespace, metadata.name);
    await until(world, certManager, 'RequestingCertificates');
    await until(world, certManager, 'Converged', 200);
    assert.equal(certificates(world).length, leaves.length);
    assert.deepEqual(world.starts, starts);
  });

  // Ticks and cert-manager stopped for months, and the issuers have new CAs since: members know none of what is shown
  // now.
  test('comes back when everything has ended and every CA is another one', async () => {
    const { world, certManager } = await running();
    world.state.watchful = false;
    world.advance(120 * 86_400);
    await certManager.replaceAuthority('company');
    await certManager.replaceAuthority('etcd');
    certManager.renew(...leaves.map(issued));
    await until(world, certManager, 'Converged', 200);
    assertOneCluster(world, 3);
  });

  test('goes on when cert-manager is forbidden to it, and says so', async () => {
    const { world, certManager } = await running();
    world.forbidden.add('certificates');
    world.kube.remove(certificateResource, namespace, issued('orders-0-peer-tls'));
    world.kill('orders-1-0');
    await ticks(world, certManager, 6);
    assertOneCluster(world, 3);
    assert.match(stalledOf(world), /grant the service account/);
  });
});

test('an invocation may die at any write of a birth', async () => {
  const writes = killer();
  const whole = await asked();
  await until(whole.world, whole.certManager, 'Converged', 120, writes);
  assert.ok(writes.writes() > 20);
  for (const crash of sample(crashesIn(writes.writes()), 13)) {
    const { world, certManager } = await asked();
    const faults = killer(crash);
    await until(world, certManager, 'Converged', 120, faults);
    assert.ok(faults.struck());
    assertOneCluster(world, 3, `${crash.when} ${crash.write}`);
  }
});

test('an invocation may die at any write while the members follow another CA', async () => {
  const follow = async (faults: ReturnType<typeof killer>) => {
    const { world, certManager } = await running();
    await certManager.replaceAuthority('etcd');
    certManager.renew(...peerLeaves.map(issued));
    await until(world, certManager, 'RotatingAuthorities', 20, faults, 'CertificatesReady');
    await until(world, certManager, 'Converged', 200, faults);
    assert.equal(leafOf(world, 'orders-0-peer-tls').trust.length, 1);
    assertOneCluster(world, 3);
  };
  const whole = killer();
  await follow(whole);
  const crashes = crashesIn(whole.writes());
  assert.ok(whole.writes() > 10);
  for (const crash of sample(crashes, 17)) {
    const faults = killer(crash);
    await follow(faults);
    assert.ok(faults.struck());
  }
});

interface Stage {
  readonly world: World;
  readonly certManager: CertManager;
}

async function asked(): Promise<Stage> {
  const world = createWorld();
  await world.apply(byCertManager);
  return { world, certManager: certManagerIn(world) };
}

let first: Promise<Stage> | undefined;

/** Born once; each test has a fork. */
async function running(): Promise<Stage> {
  first ??= born();
  const { world, certManager } = await first;
  const fork = world.fork();
  return { world: fork, certManager: certManager.fork(fork) };
}

async function born(): Promise<Stage> {
  const stage = await asked();
  await until(stage.world, stage.certManager, 'Converged');
  await ticks(stage.world, stage.certManager, 2);
  stage.world.state.watchful = true;
  return stage;
}

/**
 * Ticks until a decision has this reason (of Ready or of another condition); its message. @throws with the decisions on
 * the way.
 */
async function until(
  world: World,
  certManager: Pick<CertManager, 'attend'>,
  reason: string,
  limit = 60,
  faults: Faults = {},
  type = 'Ready',
): Promise<string> {
  const trail: string[] = [];
  for (let tick = 0; tick < limit; tick++) {
    await certManager.attend();
    world.settle();
    const result = await world.tick(faults);
    trail.push(`${result?.decision.kind} ${result?.decision.reason} ${result?.outcome} ${result?.problem ?? ''}`);
    assert.deepEqual(world.violations, [], trail.join('\n'));
    const condition = world.cluster()?.status?.conditions?.find((candidate) => candidate.type === type);
    const ended = type !== 'Ready' || result?.decision.reason === reason;
    if (ended && condition?.reason === reason) return condition.message;
    world.advance(2);
  }
  return assert.fail(
    `never ${reason}:\n${trail.join('\n')}\n${JSON.stringify(world.cluster()?.status?.conditions, null, 1)}`,
  );
}

async function ticks(world: World, certManager: CertManager, count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) {
    await certManager.attend();
    world.settle();
    await world.tick();
    assert.deepEqual(world.violations, []);
    world.advance(2);
  }
}

function certificates(world: World): readonly CertManagerCertificate[] {
  return world.kube.stored<CertManagerCertificate>(certificateResource);
}

function secret(world: World, name: string): Secret | undefined {
  return world.kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === name);
}

function leafOf(world: World, name: string): LeafFacts {
  const found = inspectLeaf(secret(world, name)?.data ?? {});
  return found.kind === 'readable' ? found.leaf : assert.fail(`Secret ${name}: ${found.kind}`);
}

function stalledOf(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
}
