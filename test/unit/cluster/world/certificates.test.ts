import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import {
  askForRotation,
  authorityOf,
  mixClients,
  rememberClient,
  restingFlaws,
  secretData,
} from '../../../support/world/applications.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { leafIn } from '../../../support/world/tls.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const days = 86_400;
const managed = { tls: { mode: 'Managed' } } as const;

describe('a cluster that is born under TLS', () => {
  for (const size of [1, 3]) {
    test(`of ${size}: its CAs and leaves are there before any member starts, and only they get in`, async () => {
      const world = createWorld();
      await world.apply({ replicas: size, ...managed });
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.deepEqual(acted(end.trail), ['PreparingMembers', 'SealingMembers']);
      assertOneCluster(world, size);
      assert.deepEqual(restingFlaws(world), []);
      assert.equal(certificatesReady(world), 'True Served');
    });
  }

  test('comes up also when everything around it is slow', async () => {
    const world = createWorld();
    await world.apply(managed);
    const end = await tickUntilConverged(world, { slow: true });
    assert.equal(end.kind, 'done', end.trail.join('\n'));
    assertOneCluster(world, 3);
  });

  test('at rest costs no write, and reads at most two Secrets', async () => {
    const world = await converged();
    const seen = new Set<string>();
    for (let tick = 0; tick < 30; tick += 1) {
      const before = world.kube.journal().length;
      await world.tick();
      world.advance(60);
      const since = world.kube.journal().slice(before);
      assert.deepEqual([...new Set(since.map(({ verb }) => verb))].sort(), ['GET', 'LIST']);
      const secrets = since.filter(({ resource }) => resource.plural === 'secrets');
      assert.ok(secrets.length > 0 && secrets.length <= 2);
      assert.ok(!secrets.some(({ verb }) => verb === 'LIST'));
      for (const { name } of secrets) seen.add(name ?? '');
    }
    assert.equal(seen.size, 11, 'each of them is looked at within half an hour');
  });
});

describe('further names', () => {
  const server = 'orders-0-server-tls';
  for (const dnsNames of [
    ['localhost'],
    ['orders.shop.svc'],
    ['etcd.example.org', 'etcd.example.org'],
    ['10.0.0.1', '127.0.0.1'],
    ['fd00::1', '::1'],
    ['*.example.org', 'etcd.example.org'],
  ]) {
    test(`${dnsNames.join(' and ')}: each is in the certificate once, and it is signed once`, async () => {
      const world = createWorld();
      await world.apply(managed);
      await tickUntilConverged(world);
      await world.apply({ tls: { mode: 'Managed', dnsNames } });
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.ok(acted(end.trail).length <= 1, end.trail.join('\n'));
      const leaf = leafIn(world.state, secretData(world, server)) ?? assert.fail();
      const names = [...leaf.dnsNames, ...leaf.ipAddresses];
      assert.equal(new Set(names).size, names.length);
      for (const wanted of dnsNames) assert.ok(names.includes(wanted), `${wanted} is one of ${names}`);
    });
  }
});

describe('renewal', () => {
  test('of leaves at two thirds of their life: no restart, and every request is answered', async () => {
    const world = await watched();
    const before = authorityOf(world, 'peer').fingerprint;
    world.advance(59 * days);
    assert.deepEqual(acted((await tickUntilConverged(world)).trail), []);
    world.advance(2 * days);
    const end = await tickUntilConverged(world, { slow: true });
    assert.deepEqual(acted(end.trail), ['RenewingCertificates'], end.trail.join('\n'));
    assert.deepEqual(restarts(world), []);
    assert.deepEqual(restingFlaws(world), []);
    assert.equal(authorityOf(world, 'peer').fingerprint, before);
    assert.deepEqual(world.violations, []);
  });

  test('goes on for a year, each time after two thirds of a life', async () => {
    const world = await watched();
    // An application that mounts the Secret reads it again.
    world.clients.clear();
    let renewals = 0;
    for (let month = 0; month < 12; month += 1) {
      world.advance(30 * days);
      renewals += acted((await tickUntilConverged(world)).trail).length;
    }
    assert.ok(renewals >= 4 && renewals <= 6, `${renewals} renewals in a year`);
    assert.deepEqual(restarts(world), []);
  });
});

describe('new CAs on request', () => {
  for (const slow of [false, true]) {
    test(`all can always talk to each other${slow ? ', however slow' : ''}, and each member restarts once`, async () => {
      const world = await watched();
      const old = authorityOf(world, 'peer').fingerprint;
      await askForRotation(world, '2026-01');
      await until(world, 'RetiringAuthorities', slow, () => {
        rememberClient(world, 'who read its Secret during the rotation');
        mixClients(
          world,
          'who shows the old leaf and trusts both',
          'who read its Secret before',
          'who read its Secret during the rotation',
        );
        mixClients(
          world,
          'who shows the new leaf and trusts the old CA',
          'who read its Secret during the rotation',
          'who read its Secret before',
        );
      });
      // What shows a leaf of the old CA had the time of the overlap to read the new one.
      world.clients.delete('who read its Secret before');
      world.clients.delete('who shows the old leaf and trusts both');
      const end = await tickUntilConverged(world, { slow, limit: 300 });
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.notEqual(authorityOf(world, 'peer').fingerprint, old);
      assert.deepEqual(restingFlaws(world), []);
      assert.deepEqual(restarts(world), ['orders-0-0 1', 'orders-1-0 1', 'orders-2-0 1']);
      assert.equal(world.cluster()?.status?.certificates?.rotation, '2026-01');
      assert.equal(certificatesReady(world), 'True Served');
    });
  }

  test('of a cluster of one: it restarts once', async () => {
    const world = createWorld();
    await world.apply({ replicas: 1, ...managed });
    await tickUntilConverged(world);
    await askForRotation(world, 'x');
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(restarts(world), ['orders-0-0 1']);
  });

  test('are made once for each request, and again for another one', async () => {
    const world = await watched();
    world.clients.clear();
    await askForRotation(world, 'one');
    await tickUntilConverged(world);
    const [first] = [authorityOf(world, 'client').fingerprint];
    assert.deepEqual(acted((await tickUntilConverged(world)).trail), []);
    await askForRotation(world, 'two');
    await tickUntilConverged(world);
    assert.notEqual(authorityOf(world, 'client').fingerprint, first);
    assert.deepEqual(restingFlaws(world), []);
    assert.deepEqual(restarts(world), ['orders-0-0 2', 'orders-1-0 2', 'orders-2-0 2']);
  });

  test('asked for before the birth are made with it: nothing has to be rotated after', async () => {
    const world = createWorld();
    await world.apply(managed);
    await askForRotation(world, 'from git');
    const end = await tickUntilConverged(world);
    assert.ok(!end.trail.join().includes('RotatingAuthorities'), end.trail.join('\n'));
    assert.deepEqual(restarts(world), []);
  });

  test("come by themselves at two thirds of a CA's life", async () => {
    const world = createWorld();
    await world.apply({
      tls: { mode: 'Managed', managed: { authorityLifetime: '4320h' }, certificateLifetime: '720h' },
    });
    await tickUntilConverged(world);
    const old = authorityOf(world, 'peer').fingerprint;
    for (let week = 0; week < 10; week += 1) {
      world.advance(14 * days);
      const end = await tickUntilConverged(world);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    }
    assert.notEqual(authorityOf(world, 'peer').fingerprint, old);
    assert.deepEqual(restingFlaws(world), []);
  });

  test('come to an end where leaves are renewed more often than the overlap is long', async () => {
    const world = createWorld();
    await world.apply({ tls: { mode: 'Managed', certificateLifetime: '1h', rotationOverlap: '6h' } });
    await tickUntilConverged(world);
    await askForRotation(world, 'x');
    let retired: number | undefined;
    const begun = world.now();
    for (let tick = 0; tick < 100 && retired === undefined; tick += 1) {
      world.settle();
      const result = await world.tick();
      if (result?.decision.reason === 'RetiringAuthorities') retired = world.now();
      world.advance(600);
    }
    assert.ok(retired !== undefined, 'the old CA was never given up');
    assert.ok(retired - begun >= 6 * 3600_000, `after ${(retired - begun) / 3600_000} hours`);
  });
});

async function converged(): Promise<World> {
  return bornWith(managed);
}

/** From now on every pair that cannot talk is a violation. */
async function watched(): Promise<World> {
  const world = await converged();
  rememberClient(world, 'who read its Secret before');
  world.state.watchful = true;
  return world;
}

async function until(world: World, reason: string, slow: boolean, between: () => void): Promise<void> {
  for (let tick = 0; tick < 500; tick += 1) {
    if (slow) world.round();
    else world.settle();
    const result = await world.tick();
    assert.deepEqual(world.violations, []);
    if (result?.decision.reason === reason) return;
    const { kind, reason: told = '' } = result?.decision ?? {};
    if (kind === 'wait' && ['RotatingAuthorities', 'LoadingAuthorities'].includes(told)) between();
    world.advance(30);
  }
  assert.fail(`never ${reason}`);
}

function acted(trail: readonly string[]): readonly string[] {
  return trail.filter((line) => line.endsWith(' acted')).map((line) => line.split(' ')[1] ?? '');
}

function restarts(world: World): readonly string[] {
  return [...world.starts].filter(([, starts]) => starts > 1).map(([pod, starts]) => `${pod} ${starts - 1}`);
}

function certificatesReady(world: World): string {
  const found = world.cluster()?.status?.conditions?.find(({ type }) => type === 'CertificatesReady');
  return `${found?.status} ${found?.reason}`;
}

test('a private key is in no object but a Secret, and in no log', async () => {
  const world = await converged();
  await askForRotation(world, 'x');
  world.advance(61 * days);
  await tickUntilConverged(world);
  const told = JSON.stringify([
    world.logged,
    Object.values(resources)
      .filter(({ plural }) => plural !== 'secrets')
      .map((resource) => world.kube.stored(resource)),
  ]);
  for (const key of keysIn(world)) {
    for (let at = 0; at + 24 <= key.length; at += 12) assert.ok(!told.includes(key.slice(at, at + 24)));
  }
});

function keysIn(world: World): readonly string[] {
  return world.kube
    .stored<{ metadata: { name: string }; data?: Record<string, string> }>(resources.secrets)
    .flatMap(({ data }) => {
      const text = Buffer.from(data?.['tls.key'] ?? '', 'base64').toString('utf8');
      return [data?.['tls.key'] ?? '', text.replace(/-----[A-Z ]+-----|\s/g, '')].filter((key) => key !== '');
    });
}
