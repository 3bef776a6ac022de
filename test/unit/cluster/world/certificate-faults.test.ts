import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../../../manifests/kube-types.ts';
import { annotations, labelsOf } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { turn } from '../../../run/part.ts';
import {
  askForRotation,
  authorityOf,
  deleteSecret,
  restingFlaws,
  secretData,
  secretNamed,
  writeSecret,
} from '../../../support/world/applications.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { theirs } from '../../../support/world/invariants.ts';
import { createWorld, name, namespace, type World } from '../../../support/world/world.ts';

const days = 86_400;
const managed = { tls: { mode: 'Managed', rotationOverlap: '30s' } } as const;
const authorities = ['orders-peer-ca', 'orders-client-ca'] as const;
const leaves = [
  'orders-reconciler-tls',
  'orders-client-tls',
  'orders-0-peer-tls',
  'orders-0-server-tls',
  'orders-2-peer-tls',
] as const;

/** One of each kind, in ring 1 by turns; `EXHAUSTIVE=1` gives all of all. */
function some<T>(all: readonly T[], stride: number, offset = 0): readonly T[] {
  const first = offset + (turn() ?? 0);
  return process.env.EXHAUSTIVE ? all : all.filter((_, index) => (index + first) % stride === 0);
}

describe('a CA that was lost under a running cluster', () => {
  for (const [what, lose] of some<readonly [string, (world: World) => void]>(
    [
      ["the peers'", (world: World) => deleteSecret(world, 'orders-peer-ca')],
      ["the clients'", (world: World) => deleteSecret(world, 'orders-client-ca')],
      [
        'both',
        (world: World) => {
          for (const lost of authorities) deleteSecret(world, lost);
        },
      ],
      ["the peers', emptied", (world: World) => writeSecret(world, 'orders-peer-ca', {})],
      [
        "the peers', with another's key",
        (world: World) =>
          writeSecret(world, 'orders-peer-ca', {
            ...secretData(world, 'orders-peer-ca'),
            'tls.key': secretData(world, 'orders-client-ca')['tls.key'] ?? '',
          }),
      ],
      [
        "the peers', told to trust another",
        (world: World) =>
          writeSecret(world, 'orders-peer-ca', {
            ...secretData(world, 'orders-peer-ca'),
            'ca.crt': secretData(world, 'orders-client-ca')['ca.crt'] ?? '',
          }),
      ],
      [
        "the peers', with a leaf in its place",
        (world: World) => writeSecret(world, 'orders-peer-ca', secretData(world, 'orders-1-peer-tls')),
      ],
    ],
    3,
  )) {
    test(`(${what}) is made anew: trusted first, then used, then alone; no member is cut off`, async () => {
      const world = await converged();
      lose(world);
      noticeNow(world);
      world.state.watchful = true;
      const end = await tickUntilConverged(world, { limit: 300 });
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.deepEqual(restingFlaws(world), []);
      assert.ok(Math.max(...world.starts.values()) <= 3, 'started to learn of it, and to forget the old one');
      assertOneCluster(world, 3);
    });
  }

  test('(with a leaf among its trusted CAs) is made anew without it, once', async () => {
    const world = await converged();
    const { 'ca.crt': trust = '', ...rest } = secretData(world, 'orders-peer-ca');
    const texts = [trust, secretData(world, 'orders-1-peer-tls')['tls.crt'] ?? ''].map((text) =>
      Buffer.from(text, 'base64'),
    );
    writeSecret(world, 'orders-peer-ca', { ...rest, 'ca.crt': Buffer.concat(texts).toString('base64') });
    noticeNow(world);
    world.state.watchful = true;
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });

  test('and a leaf is deleted before the new one is trusted: its member goes on with what it has', async () => {
    const world = await converged();
    deleteSecret(world, 'orders-peer-ca');
    noticeNow(world);
    await until(world, 'MakingAuthorities');
    deleteSecret(world, 'orders-2-peer-tls');
    world.state.watchful = true;
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });
});

describe('the Secret of a leaf under a running cluster', () => {
  for (const [index, wanted] of leaves.entries()) {
    for (const [what, damage] of some<readonly [string, (world: World) => void]>(
      [
        ['deleted', (world: World) => deleteSecret(world, wanted)],
        ['emptied', (world: World) => writeSecret(world, wanted, {})],
        [
          'half-written',
          (world: World) =>
            writeSecret(world, wanted, { ...secretData(world, wanted), 'tls.crt': 'LS0tLS1CRUdJTiBDRVJU' }),
        ],
        [
          'given another key',
          (world: World) =>
            writeSecret(world, wanted, {
              ...secretData(world, wanted),
              'tls.key': secretData(world, 'orders-1-peer-tls')['tls.key'] ?? '',
            }),
        ],
        [
          "given the other CA's trust",
          (world: World) =>
            writeSecret(world, wanted, {
              ...secretData(world, wanted),
              'ca.crt':
                secretData(world, wanted.includes('peer') ? 'orders-client-ca' : 'orders-peer-ca')['ca.crt'] ?? '',
            }),
        ],
        [
          "given another member's certificate",
          (world: World) => writeSecret(world, wanted, secretData(world, 'orders-1-server-tls')),
        ],
      ],
      3,
      index,
    )) {
      test(`${wanted}, ${what}, is put right without a restart`, async () => {
        const world = await converged();
        damage(world);
        // Looked at by turns: within minutes, whichever it is.
        let acts = 0;
        for (let minute = 0; minute < 20 && acts === 0; minute += 1) {
          world.settle();
          acts += (await world.tick())?.outcome === 'acted' ? 1 : 0;
          world.advance(60);
        }
        assert.equal(acts, 1, 'it is noticed');
        const end = await tickUntilConverged(world);
        assert.equal(end.reason, 'Converged', end.trail.join('\n'));
        assert.deepEqual(restingFlaws(world), []);
        assert.deepEqual([...world.starts.values()], [1, 1, 1]);
      });
    }
  }

  // No chain leads from what members loaded to what is made anew, so that they have to be started with it.
  for (const [what, size, isLost] of [
    ['all of them at once, with both CAs,', 1, () => true],
    ['all of them at once, with both CAs,', 2, () => true],
    ['all of them at once, with both CAs,', 3, () => true],
    ['all of them at once, with both CAs,', 5, () => true],
    ['all that members show each other, with its CA,', 1, (secret: string) => secret.includes('-peer-')],
    ['all that members show each other, with its CA,', 2, (secret: string) => secret.includes('-peer-')],
    ['all that members and clients show each other, with its CA,', 3, (secret: string) => !secret.includes('-peer-')],
  ] as const) {
    test(`${what} of ${size}: everything is made anew, and members restart one at a time`, async () => {
      const world = await converged({ replicas: size });
      for (const { metadata } of world.kube.stored(resources.secrets)) {
        if (isLost(metadata.name)) deleteSecret(world, metadata.name);
      }
      const end = await tickUntilLookedAt(world);
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.deepEqual(restingFlaws(world), []);
      assert.deepEqual(
        [...world.starts.values()],
        Array.from({ length: size }, () => 2),
      );
      assertOneCluster(world, size);
    });
  }

  test('all peer Secrets with their CA, of 3: no serving member stops, a person is told the cure', async () => {
    const world = await converged();
    for (const { metadata } of world.kube.stored(resources.secrets)) {
      if (metadata.name.includes('-peer-')) deleteSecret(world, metadata.name);
    }
    const end = await tickUntilLookedAt(world);
    assert.equal(end.reason, 'AuthorityLost', end.trail.join('\n'));
    const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
    assert.match(stalled?.message ?? '', /To go on: delete all pods of orders at once/);
    assert.deepEqual([...world.starts.values()], [1, 1, 1]);
    assert.equal(world.cluster()?.status?.conditions?.find(({ type }) => type === 'Available')?.status, 'True');
    for (const { metadata } of world.kube.stored<Pod>(resources.pods))
      world.kube.remove(resources.pods, namespace, metadata.name);
    const cured = await tickUntilConverged(world);
    assert.equal(cured.reason, 'Converged', cured.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
    assertOneCluster(world, 3);
  });
});

test('Secrets that may not be read: named with the right to grant, and nothing starts till then', async () => {
  const world = createWorld();
  world.forbidden.add('GET secrets');
  await world.apply(managed);
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'SecretsUnreadable');
  assert.equal(world.processes.size, 0);
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(
    stalled?.message ?? '',
    /To go on: grant the service account .* get, create, update and delete on Secrets/,
  );

  world.forbidden.clear();
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  // A role taken away from a cluster that runs stops nothing that needs no certificate.
  world.forbidden.add('GET secrets');
  world.kube.remove(resources.statefulSets, namespace, 'orders-1');
  world.kill('orders-1-0');
  await tickUntilConverged(world);
  assert.equal(world.processes.size, 3);
});

describe('a foreign Secret of our name', () => {
  for (const [index, wanted] of [...authorities, ...leaves].entries()) {
    for (const labelled of some([false, true], 2, index)) {
      test(`${wanted}${labelled ? ', with our labels,' : ''} is left alone at a birth, and named; without it the birth goes on`, async () => {
        const world = createWorld();
        world.kube.seed<Secret>(resources.secrets, foreignSecret(wanted, labelled, {}));
        await world.apply(managed);
        const end = await tickUntilConverged(world, { limit: 60 });
        assert.equal(end.kind, 'refuse', end.trail.join('\n'));
        assert.equal(end.reason, 'NameTaken');
        assert.match(end.message, new RegExp(wanted));
        assert.match(readyMessage(world), /To go on: /);
        assert.equal(world.processes.size, 0);
        deleteSecret(world, wanted);
        assert.equal((await tickUntilConverged(world)).reason, 'Converged');
      });
    }
  }

  test('with a foreign CA in it: no member comes to trust that', async () => {
    const other = await converged();
    const world = createWorld();
    const data = secretData(other, 'orders-client-tls');
    world.kube.seed<Secret>(resources.secrets, foreignSecret('orders-client-tls', true, data));
    await world.apply(managed);
    await tickUntilConverged(world, { limit: 60 });
    deleteSecret(world, 'orders-client-tls');
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.deepEqual(restingFlaws(world), []);
    assert.notEqual(authorityOf(world, 'client').fingerprint, authorityOf(other, 'client').fingerprint);
  });

  for (const wanted of ['orders-client-tls', 'orders-1-server-tls', 'orders-peer-ca'] as const) {
    test(`${wanted}, in our place under a running cluster, is left alone and named`, async () => {
      const world = await converged();
      if (wanted !== 'orders-peer-ca') await askForRotation(world, 'x');
      deleteSecret(world, wanted);
      world.kube.seed<Secret>(resources.secrets, foreignSecret(wanted, false, {}));
      noticeNow(world);
      const end = await tickUntilConverged(world, { limit: 60 });
      assert.equal(end.reason, 'NameTaken', end.trail.join('\n'));
      assert.match(end.message, new RegExp(wanted));
      assert.equal(world.processes.size, 3);
      deleteSecret(world, wanted);
      const cured = await tickUntilConverged(world, { limit: 300 });
      assert.equal(cured.reason, 'Converged', cured.trail.join('\n'));
      assert.deepEqual(restingFlaws(world), []);
    });
  }
});

describe('a member that is down', () => {
  test('during a rotation is waited for, as long as it is not replaced, and then it goes on', async () => {
    const world = await converged({ healing: { memberGracePeriod: '168h' } });
    world.dieWhen(({ metadata }) => metadata.name === 'orders-2-0');
    world.kill('orders-2-0');
    await askForRotation(world, 'x');
    world.settle();
    await ticks(world, 40, 60);
    assert.equal(authorityOf(world, 'peer').trust.length, 1, 'it is not even begun');
    world.dieWhen(() => false);
    await until(world, 'RenewingCertificates');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-2-0');
    world.kill('orders-2-0');
    await ticks(world, 40, 60);
    assert.equal(authorityOf(world, 'peer').trust.length, 2, 'and not ended while it is away');
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });

  test('in the middle of the restarts stops them, and they go on with it', async () => {
    const world = await converged();
    await askForRotation(world, 'x');
    await until(world, 'RollingConfiguration');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-2-0');
    world.kill('orders-2-0');
    await ticks(world, 20, 30);
    assert.deepEqual(world.violations, []);
    assert.ok(world.processes.size >= 2);
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });

  test('in a rotation until the old CA has ended keeps no member from going on with the new one', async () => {
    const world = await converged({ tls: { ...managed.tls, managed: { authorityLifetime: '4000h' } } });
    world.advance(112 * days);
    await until(world, 'OverlapBegins');
    world.dieWhen(({ metadata }) => metadata.name === 'orders-2-0');
    world.kill('orders-2-0');
    for (let week = 0; week < 9; week += 1) {
      world.advance(7 * days);
      await ticks(world, 4, 2);
    }
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world, { limit: 100 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
    assertOneCluster(world, 3);
  });

  test('for months keeps no certificate from being renewed', async () => {
    const world = await converged();
    world.dieWhen(({ metadata }) => metadata.name === 'orders-2-0');
    world.kill('orders-2-0');
    for (let month = 0; month < 8; month += 1) {
      world.advance(30 * days);
      await ticks(world, 4, 2);
      assert.equal(world.cluster()?.status?.conditions?.find(({ type }) => type === 'Available')?.status, 'True');
    }
    world.dieWhen(() => false);
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });

  test('like all others, because no tick ran for longer than a leaf lives: all come back', async () => {
    const world = await converged();
    world.advance(120 * days);
    world.settle();
    const end = await tickUntilConverged(world, { limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(restingFlaws(world), []);
  });
});

describe('a cluster without ticks', () => {
  // Connections that members made before go on, so that they are Ready, and nobody can make a new one.
  for (const [what, age, size, lost] of [
    ['for longer than its CAs live', 4100, 1, []],
    ['for longer than its CAs live', 4100, 2, []],
    ['for longer than its CAs live', 4100, 3, []],
    ['for longer than leaves live, and whose CAs are lost', 120, 3, authorities],
    ['for longer than leaves live, and whose CA for clients is lost', 120, 3, ['orders-client-ca']],
  ] as const) {
    test(`${what}, of ${size}: everything is made anew, and all come back`, async () => {
      const world = await converged({ replicas: size });
      for (const each of lost) deleteSecret(world, each);
      world.advance(age * days);
      world.settle();
      const end = await tickUntilConverged(world, { limit: 100 });
      assert.equal(end.reason, 'Converged', end.trail.join('\n'));
      assert.deepEqual(restingFlaws(world), []);
      assertOneCluster(world, size);
    });
  }
});

describe('a clock that is set', () => {
  test('back or forth by minutes changes nothing', async () => {
    const world = await converged();
    world.state.skew = 2 * 60_000;
    world.state.watchful = true;
    for (const minutes of [3, -3, -2, 2, -1, 1]) {
      world.advance(minutes * 60);
      const end = await tickUntilConverged(world);
      assert.equal(end.acts, 0, `${minutes}: ${end.trail.join('\n')}`);
    }
  });

  test('back by an hour right after the birth: nothing is signed again and again', async () => {
    const world = await converged();
    world.advance(-3600);
    noticeNow(world);
    world.settle();
    let acts = 0;
    for (let tick = 0; tick < 20; tick += 1) {
      const result = await world.tick();
      acts += result?.outcome === 'acted' ? 1 : 0;
      world.advance(2);
    }
    assert.ok(acts <= 1, `${acts} steps`);
    world.advance(3600);
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  });
});

describe('a resource that was deleted', () => {
  test('and is applied again (Retain): the same CAs, and who trusted the cluster trusts it still', async () => {
    const world = await converged();
    const before = authorities.map((ca) => secretData(world, ca)['tls.crt']);
    await world.remove();
    for (let round = 0; round < 10; round += 1) world.settle();
    assert.deepEqual(secretNames(world), [...authorities].sort(), 'leaves go with their owners, CAs stay');
    await world.apply(managed);
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(
      authorities.map((ca) => secretData(world, ca)['tls.crt']),
      before,
    );
    assert.deepEqual(restingFlaws(world), []);
  });

  test('and is applied again at once, while its leaves are still being collected: the same CAs', async () => {
    const world = await converged();
    const before = authorities.map((ca) => secretData(world, ca)['tls.crt']);
    await world.remove();
    await world.apply(managed);
    const end = await tickUntilConverged(world, { slow: true, limit: 300 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.deepEqual(
      authorities.map((ca) => secretData(world, ca)['tls.crt']),
      before,
    );
  });

  test('with policy Delete, after its spec was changed to another mode: its CAs go all the same', async () => {
    const world = await converged({ volumeRetention: { whenDeleted: 'Delete' } });
    await world.apply({ tls: { mode: 'Disabled' }, volumeRetention: { whenDeleted: 'Delete' } });
    await world.remove();
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'gone', end.trail.join('\n'));
    for (let round = 0; round < 10; round += 1) world.settle();
    assert.deepEqual(secretNames(world), []);
  });

  test('with policy Delete: its CAs go after its volumes, and nothing else does', async () => {
    const world = await converged({ volumeRetention: { whenDeleted: 'Delete' } });
    world.kube.seed<Secret>(
      resources.secrets,
      foreignSecret('orders-2-ca', true, {}),
      foreignSecret('shipping-peer-ca', true, {}),
    );
    await world.remove();
    const end = await tickUntilConverged(world);
    assert.equal(end.kind, 'gone', end.trail.join('\n'));
    for (let round = 0; round < 10; round += 1) world.settle();
    assert.deepEqual(secretNames(world), ['orders-2-ca', 'shipping-peer-ca']);
    assert.equal(world.claims().length, 0);
    const order = world.kube
      .journal()
      .filter(
        ({ verb, resource }) => verb === 'DELETE' && ['secrets', 'persistentvolumeclaims'].includes(resource.plural),
      )
      .map(({ resource }) => resource.plural);
    assert.deepEqual(order, [...Array(3).fill('persistentvolumeclaims'), 'secrets', 'secrets']);
    assert.deepEqual(world.violations, []);
  });

  test('whose volumes have gone too: the next of that name gets CAs of its own', async () => {
    const world = await converged();
    await askForRotation(world, 'x');
    await tickUntilConverged(world);
    const before = authorityOf(world, 'peer').fingerprint;
    await world.remove();
    for (let round = 0; round < 10; round += 1) world.settle();
    for (const { metadata } of world.claims()) world.kube.remove(resources.volumeClaims, namespace, metadata.name);
    await world.apply(managed);
    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.notEqual(authorityOf(world, 'peer').fingerprint, before);
    assert.deepEqual(restingFlaws(world), []);
    for (const ca of authorities) {
      assert.deepEqual(Object.keys(secretNamed(world, ca)?.metadata.annotations ?? {}), [annotations.token]);
    }
  });
});

async function converged(changes: Partial<EtcdClusterSpec> = {}): Promise<World> {
  return bornWith({ ...managed, ...changes });
}

/** As if the turn had come to look at everything. */
function noticeNow(world: World): void {
  const found = world.cluster() ?? assert.fail();
  world.kube.seed(resources.clusters, { ...found, status: { ...found.status, conditions: [] } });
}

async function until(world: World, reason: string): Promise<void> {
  for (let tick = 0; tick < 100; tick += 1) {
    world.settle();
    const result = await world.tick();
    if (result?.decision.reason === reason && result.outcome === 'acted') return;
    world.advance(30);
  }
  assert.fail(`never ${reason}`);
}

async function ticks(world: World, count: number, seconds: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) {
    world.settle();
    await world.tick();
    world.advance(seconds);
  }
}

/**
 * Secrets are looked at by turns: within minutes it is noticed, and then it goes on until there is nothing left to do.
 */
async function tickUntilLookedAt(world: World): Promise<Converged> {
  for (let minute = 0; minute < 20; minute += 1) {
    world.settle();
    await world.tick();
    world.advance(60);
  }
  return tickUntilConverged(world, { limit: 300 });
}

function foreignSecret(wanted: string, labelled: boolean, data: Readonly<Record<string, string>>): Secret {
  const labels = labelled ? labelsOf(name) : { app: 'theirs' };
  return { metadata: { name: wanted, namespace, labels, annotations: { [theirs]: 'yes' } }, type: 'Opaque', data };
}

function secretNames(world: World): readonly string[] {
  return world.kube
    .stored(resources.secrets)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

function readyMessage(world: World): string {
  return world.cluster()?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}
