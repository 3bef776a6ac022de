import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { ConfigMap, PersistentVolume } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { ownerReference } from '../../../../manifests/render/owner-reference.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { sample } from '../../../support/world/crash.ts';
import { lifeOf } from '../../../support/world/life.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import type { World } from '../../../support/world/world.ts';

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

async function healthyWorld(): Promise<World> {
  return bornWith({ healing });
}

/** The PVC comes back as it was, on another disk, which holds the same data: etcd would start on it. */
function restore(world: World, name: string): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  const data = world.state.disks.get(claim.metadata.uid ?? '') ?? assert.fail(name);
  world.loseVolume(name);
  const uid = `restored-${name}`;
  const metadata = { ...claim.metadata, uid };
  world.kube.seed(resources.volumeClaims, {
    ...claim,
    metadata,
    spec: { ...claim.spec, volumeName: `copy-of-${name}` },
  });
  world.state.disks.set(uid, data);
}

async function approve(world: World, message: string): Promise<void> {
  const cluster = world.cluster() ?? assert.fail();
  const [asked] = cluster.status?.approvals ?? [];
  assert.equal(asked?.annotation, annotations.acceptDisks);
  assert.match(asked.loses, /writ/);
  const text = asked.value;
  assert.ok(message.endsWith(`${annotations.acceptDisks}=${text}`), message);
  const metadata = { ...cluster.metadata, annotations: { [annotations.acceptDisks]: text } };
  await world.kube.update<EtcdCluster>(resources.clusters, { ...cluster, metadata });
}

test('of an earlier release: ConfigMaps go to PVCs, disks are noted, nothing restarts', async () => {
  const world = await healthyWorld();
  for (const claim of world.claims()) {
    const { [annotations.disk]: noted, ...rest } = claim.metadata.annotations ?? {};
    assert.equal(noted, `${claim.spec.volumeName} -`);
    world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: rest } });
  }
  const peers = world.kube.stored<EtcdPeer>(resources.peers);
  for (const found of world.kube.stored<ConfigMap>(resources.configMaps)) {
    const peer = peers.find(({ metadata }) => metadata.name === found.metadata.name) ?? assert.fail();
    const metadata = { ...found.metadata, ownerReferences: [ownerReference('EtcdPeer', peer)] };
    world.kube.seed(resources.configMaps, { ...found, metadata });
  }
  const starts = new Map(world.starts);
  const end = await tickUntilConverged(world);
  assert.deepEqual(
    end.steps.map(({ reason }) => reason),
    ['FollowingVolumes', 'NotingDisks'],
  );
  assert.deepEqual(new Map(world.starts), starts);
  for (const claim of world.claims()) {
    assert.equal(claim.metadata.annotations?.[annotations.disk], `${claim.spec.volumeName} -`);
    const [configMap] = world.kube
      .stored<ConfigMap>(resources.configMaps)
      .filter(({ metadata }) => metadata.name === claim.metadata.name);
    assert.deepEqual(
      configMap?.metadata.ownerReferences?.map(({ uid }) => uid),
      [claim.metadata.uid],
    );
    assert.equal(configMap?.immutable, true);
  }
});

test('one that comes back on another disk is not started, and replaced', async () => {
  const world = await healthyWorld();
  const starts = world.starts.get('orders-1-0');
  restore(world, 'orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
  assert.equal(world.starts.get('orders-1-0'), starts);
  const kept = world.claims().find(({ metadata }) => metadata.name === 'orders-1');
  assert.equal(kept?.metadata.annotations?.[annotations.evidence], 'true');
});

/** Volumes whose disks have a handle, as CSI drivers give them, and were sealed with it. */
async function healthyWorldOnCsi(): Promise<World> {
  const world = await healthyWorld();
  for (const claim of world.claims()) {
    const { name } = claim.metadata;
    const pv = claim.spec.volumeName ?? assert.fail(name);
    const [made] = world.kube
      .stored<PersistentVolume>(resources.persistentVolumes)
      .filter(({ metadata }) => metadata.name === pv);
    putDisk(world, pv, `disk-of-${name}`, made?.metadata.creationTimestamp);
    const noted = { ...claim.metadata.annotations, [annotations.disk]: `${pv} disk-of-${name}` };
    world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: noted } });
  }
  return world;
}

function putDisk(world: World, pv: string, volumeHandle: string, creationTimestamp?: string): void {
  const metadata = { name: pv, ...(creationTimestamp !== undefined && { creationTimestamp }) };
  world.kube.seed(resources.persistentVolumes, { metadata, spec: { csi: { volumeHandle } } });
}

/**
 * As backup tools do it: PVC and PersistentVolume come back under their names, and only the handle tells another
 * disk.
 */
function restoreUnderBothNames(world: World, name: string): void {
  const pv = world.claims().find(({ metadata }) => metadata.name === name)?.spec.volumeName ?? assert.fail(name);
  restore(world, name);
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  world.kube.seed(resources.volumeClaims, { ...claim, spec: { ...claim.spec, volumeName: pv } });
  putDisk(world, pv, `copy-of-${name}`);
}

test('one that comes back on another disk under the same names is not started, and replaced', async () => {
  const world = await healthyWorldOnCsi();
  const starts = world.starts.get('orders-1-0');
  restoreUnderBothNames(world, 'orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
  assert.equal(world.starts.get('orders-1-0'), starts);
});

test('a handle unreadable at sealing is noted later: a copy of the same names never starts', async () => {
  const world = await healthyWorldOnCsi();
  for (const claim of world.claims()) {
    const named = { ...claim.metadata.annotations, [annotations.disk]: claim.spec.volumeName ?? '' };
    world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: named } });
  }
  const notes = () => world.claims().map(({ metadata }) => metadata.annotations?.[annotations.disk] ?? '');
  // A look a minute, as the CronJob has it: whose turn it is goes by the clock.
  for (let look = 0; look < 40 && !notes().every((note) => / disk-of-/.test(note)); look += 1) {
    await tickUntilConverged(world);
    world.advance(60);
  }
  assert.ok(
    notes().every((note) => / disk-of-/.test(note)),
    notes().join(', '),
  );
  const starts = world.starts.get('orders-1-0');
  restoreUnderBothNames(world, 'orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
  assert.equal(world.starts.get('orders-1-0'), starts);
});

async function allRestoredUnderBothNames(): Promise<World> {
  const world = await healthyWorldOnCsi();
  await world.remove();
  world.settle();
  for (const name of ['orders-0', 'orders-1', 'orders-2']) restoreUnderBothNames(world, name);
  await world.apply({ healing });
  return world;
}

test('all of them under the same names: nothing starts before a person approves it', async () => {
  const world = await allRestoredUnderBothNames();
  const starts = new Map(world.starts);
  const message = await refused(world);
  assert.deepEqual(new Map(world.starts), starts);
  await approve(world, message);
  const end = await tickUntilConverged(world);
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
});

/** Deleted, all PVCs restored, and applied again. */
async function allRestored(): Promise<World> {
  const world = await healthyWorld();
  await world.remove();
  world.settle();
  for (const name of ['orders-0', 'orders-1', 'orders-2']) restore(world, name);
  await world.apply({ healing });
  return world;
}

async function refused(world: World): Promise<string> {
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'AllDisksRestored', end.trail.join('\n'));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  return stalled?.message ?? '';
}

test('all of them: nothing starts before a person approves it, and then everything does', async () => {
  const world = await allRestored();
  const starts = new Map(world.starts);
  const message = await refused(world);
  assert.deepEqual(new Map(world.starts), starts);
  await approve(world, message);
  const end = await tickUntilConverged(world);
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, 3, end.trail.join('\n'));
});

test('all of them, under pods that wait: what an approval leads to is foretold', async () => {
  const world = await healthyWorld();
  for (const name of ['orders-0', 'orders-1', 'orders-2']) restore(world, name);
  await approve(world, await refused(world));
  const { planned, problem } = await world.plan({ healing });
  assert.ok(planned, problem);
  const end = await tickUntilConverged(world);
  const actions = (steps: readonly { readonly action: string }[]) => steps.map(({ action }) => action);
  assert.deepEqual(actions(planned.steps), actions(end.steps), end.trail.join('\n'));
  assert.deepEqual([planned.end.kind, end.kind], ['done', 'done'], planned.end.message);
  assertWhole(world, 3, end.trail.join('\n'));
});

test('all of them, and the invocation that carries out the approval dies at any write', async () => {
  for (const prepare of [allRestored, allRestoredUnderBothNames]) {
    const prepared = await prepare();
    await approve(prepared, await refused(prepared));
    const life = await lifeOf(prepared);
    assert.ok(life.writes > 5, `${life.writes} writes`);
    for (const crash of sample(life.places, 5)) {
      const { world } = await life.killedAt(crash);
      const end = await tickUntilConverged(world);
      const story = `${prepare.name}, ${crash.when} ${crash.write}:\n${end.trail.join('\n')}`;
      assert.equal(end.kind, 'done', story);
      assertWhole(world, 3, story);
    }
  }
});
