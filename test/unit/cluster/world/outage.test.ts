import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../../manifests/api/etcd-fleet.ts';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import { labels } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { approveLeaving, assertTakenOver, besideOthers } from '../../../support/world/adoption.ts';
import { bornWith } from '../../../support/world/born.ts';
import { assertOneCluster, tickUntilConverged } from '../../../support/world/converge.ts';
import { fillUp } from '../../../support/world/harm.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import type { TickOptions, World } from '../../../support/world/world.ts';

const MiB = 2 ** 20;
const quota = 100 * MiB;
const etcd = { quotaBackendBytes: '200Mi' } as const;

/** Its data fill the quota, and as many others of its fleet as allowed are being changed, for good. */
async function crowded(): Promise<{ readonly world: World; readonly options: TickOptions }> {
  const world = await bornWith({ replicas: 3, etcd: { quotaBackendBytes: '100Mi' } });
  const found = world.cluster() ?? assert.fail('there is no cluster');
  const uid = found.metadata.uid ?? '';
  const metadata = { ...found.metadata, labels: { ...found.metadata.labels, [labels.fleet]: 'fleet' } };
  await world.kube.update<EtcdCluster>(resources.clusters, { ...found, metadata });
  return { world, options: { beside: { clusters: [rolling(found)], fleets: [fleetOf([uid, 'users'])] } } };
}

function fleetOf(uids: readonly string[]): EtcdFleet {
  const inventory = uids.map((uid) => ({ namespace: 'shop', name: uid, uid, generation: 1, source: 'a.yaml' }));
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'shops', namespace: 'shop', uid: 'fleet' },
    spec: { git: { url: 'https://git.example.com/a.git', ref: 'main' }, maxClustersInProgress: 1 },
    status: { observedGeneration: 1, inventory },
  };
}

function rolling(like: EtcdCluster): EtcdCluster {
  const at = '2026-01-01T00:00:00Z';
  const entry = {
    at,
    action: 'change-template',
    reason: 'RollingConfiguration',
    message: 'x',
    outcome: 'acted',
    generation: 1,
  } as const;
  return {
    ...like,
    metadata: { name: 'users', namespace: 'shop', uid: 'users', labels: { [labels.fleet]: 'fleet' } },
    status: { observedGeneration: 1, history: [entry], replicas: 3, readyReplicas: 2 },
  };
}

function conditionOf(world: World, type: string) {
  return world.cluster()?.status?.conditions?.find((one) => one.type === type);
}

describe('a cluster that is out of space, while its fleet has no room', () => {
  test('gets the larger quota that Git gives it, and the rest of the commit when there is room', async () => {
    const { world, options } = await crowded();
    const space = fillUp(world, { quota, live: 99 * MiB, history: 2 * MiB });
    const told = await tickUntilConverged(world, { options });
    assert.deepEqual([told.kind, told.reason], ['refuse', 'NoSpace'], told.trail.join('\n'));
    assert.partialDeepStrictEqual(conditionOf(world, 'Available'), { status: 'False', reason: 'NoSpace' });

    space.quota = 2 * quota;
    await world.apply({ etcd: { ...etcd, snapshotCount: 5000 } });
    const looks: string[] = [];
    const meanwhile = async () => {
      if (space.alarms.size > 0) looks.push(`${conditionOf(world, 'Available')?.reason}`);
    };
    // The rest of the commit waits for room for as long as there is none.
    await assert.rejects(tickUntilConverged(world, { options, meanwhile, limit: 30 }), /no end after 30 ticks/);
    assert.equal(conditionOf(world, 'Ready')?.reason, 'WaitingForRoom');
    assert.deepEqual(new Set(looks), new Set(['NoSpace']), 'as long as the alarm stands, it is told');
    assert.deepEqual(space.alarms, new Set());
    assert.partialDeepStrictEqual(conditionOf(world, 'Available'), { status: 'True', reason: 'QuorumServes' });

    const end = await tickUntilConverged(world);
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assertWhole(world, 3, end.trail.join('\n'));
    assertOneCluster(world, 3);
  });

  test('says so for as long as another change of it waits', async () => {
    const { world, options } = await crowded();
    fillUp(world, { quota, live: 99 * MiB, history: 2 * MiB });
    await world.apply({ etcd: { quotaBackendBytes: '100Mi', snapshotCount: 5000 } });
    const end = await tickUntilConverged(world, { options });
    assert.deepEqual([end.kind, end.reason], ['refuse', 'NoSpace'], end.trail.join('\n'));
    assert.partialDeepStrictEqual(conditionOf(world, 'Stalled'), { status: 'True', reason: 'NoSpace' });
    assert.partialDeepStrictEqual(conditionOf(world, 'Available'), { status: 'False', reason: 'NoSpace' });
  });
});

const shut = { maintenance: { windows: [] } };

/** What each member is given. */
const settingsIn = (world: World) => world.kube.stored<EtcdPeer>(resources.peers).map(({ spec }) => spec.etcd);

test('an alarm that ends while the quota is raised begins no other change outside the windows', async () => {
  const world = await bornWith({ replicas: 3, etcd: { quotaBackendBytes: '100Mi' } });
  await world.apply({ etcd: { quotaBackendBytes: '100Mi', snapshotCount: 4000 } });
  await tickUntilConverged(world);
  const space = fillUp(world, { quota, live: 99 * MiB, history: 2 * MiB });
  await world.apply({ etcd: { ...etcd, snapshotCount: 5000 }, ...shut });
  const meanwhile = async () => {
    if (settingsIn(world).some((given) => given?.quotaBackendBytes === '200Mi')) space.alarms.clear();
  };
  await assert.rejects(tickUntilConverged(world, { meanwhile, limit: 30 }), /no end after 30 ticks/);
  assert.equal(conditionOf(world, 'Ready')?.reason, 'OutsideWindows');
  const given = settingsIn(world);
  assert.deepEqual(
    given.map((one) => one?.snapshotCount),
    [4000, 4000, 4000],
  );
  assert.equal(given.filter((one) => one?.quotaBackendBytes === '200Mi').length, 1);
});

test('members of ours get a larger quota although an adoption waits for a window', async () => {
  const world = await besideOthers(['legacy-a', 'legacy-b', 'legacy-c'], 3);
  await approveLeaving(world);
  const { bootstrap } = world.cluster()?.spec ?? assert.fail('there is no cluster');
  assert.ok(bootstrap);
  const asked = { bootstrap, etcd: { quotaBackendBytes: '100Mi' }, ...shut };
  await world.apply(asked);
  await assert.rejects(tickUntilConverged(world, { limit: 60 }), /no end after 60 ticks/);
  assert.equal(conditionOf(world, 'Ready')?.reason, 'OutsideWindows');
  const space = fillUp(world, { quota, live: 99 * MiB, history: 2 * MiB });
  await world.apply({ ...asked, etcd });
  const told = await tickUntilConverged(world);
  assert.deepEqual([told.kind, told.reason], ['refuse', 'NoSpace'], told.trail.join('\n'));
  assert.match(told.message, /while legacy-a, legacy-b, legacy-c have not left/);
  const given = settingsIn(world).map((one) => one?.quotaBackendBytes);
  assert.deepEqual(given, ['200Mi', '200Mi', '200Mi']);

  space.quota = 2 * quota;
  await world.apply({ bootstrap, etcd });
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  assert.deepEqual(space.alarms, new Set());
  assertTakenOver(world, 3, end.trail.join('\n'));
});
