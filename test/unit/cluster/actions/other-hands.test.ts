import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Pod } from '../../../../manifests/kube-types.ts';
import { peerInputs } from '../../../../manifests/render/peer.ts';
import { act } from '../../../../reconcile/cluster/act/act.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import { type Kube, resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { changeSet, withFlag, withImage } from '../../../support/world/hands.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** Another client changes a StatefulSet after the decision: its pod stays, or it would come back on that (I16). */

async function hangingMember(): Promise<{ readonly world: World; readonly pod: Pod }> {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  const pod = await world.kube.get<Pod>(resources.pods, namespace, 'orders-1-0');
  if (!pod) return assert.fail();
  world.holdUp(({ metadata }) => (metadata.uid === pod.metadata.uid ? 'Loading' : undefined));
  world.kill('orders-1-0');
  world.kube.seed(resources.pods, { ...pod, status: { ...pod.status, conditions: [] } } as Pod);
  return { world, pod };
}

async function carryOut(world: World, action: Action, kube: Kube = world.kube): Promise<void> {
  const cluster = world.cluster() ?? assert.fail();
  const etcd = { endpoints: new Map(), connect: () => assert.fail('etcd is not asked') };
  await act(action, { kube, cluster, etcd, signal: AbortSignal.timeout(60_000) });
}

async function assertStays(world: World, { metadata }: Pod): Promise<void> {
  const after = await world.kube.get<Pod>(resources.pods, namespace, 'orders-1-0');
  assert.deepEqual([after?.metadata.uid, after?.metadata.deletionTimestamp], [metadata.uid, undefined]);
  assert.deepEqual(world.violations, []);
}

const refusal = /orders-1 is not restarted: kubectl-edit changed spec\.template\.spec\.containers\[etcd\]\.args of/;

test('a pod that hangs is not recreated on what another client wrote', async () => {
  const { world, pod } = await hangingMember();
  await changeSet(world, 'orders-1', withFlag('--unsafe-no-fsync=true'));
  const recreate = { kind: 'recreate-pod', pod: { name: 'orders-1', uid: pod.metadata.uid ?? '' } } as const;
  await assert.rejects(carryOut(world, recreate), refusal);
  await assertStays(world, pod);
});

test('a pod that is not Ready is not cured with what another client wrote since its template', async () => {
  const { world, pod } = await hangingMember();
  const update = async (...[resource, object, options]: Parameters<Kube['update']>) => {
    const answer = await world.kube.update(resource, object, options);
    if (resource === resources.statefulSets) await changeSet(world, 'orders-1', withFlag('--unsafe-no-fsync=true'));
    return answer as never;
  };
  const peer = await world.kube.get(resources.peers, namespace, 'orders-1');
  const inputs = { ...peerInputs((world.cluster() ?? assert.fail()).spec), etcd: { snapshotCount: 5000 } };
  const peers = [{ name: 'orders-1', uid: peer?.metadata.uid ?? '' }];
  await assert.rejects(
    carryOut(world, { kind: 'reconfigure-members', peers, inputs }, { ...world.kube, update }),
    refusal,
  );
  await assertStays(world, pod);
});

test('a member that has run the next minor meanwhile is not given the lower one again', async () => {
  const world = createWorld();
  await world.apply({ replicas: 1 });
  await tickUntilConverged(world);
  await changeSet(world, 'orders-0', withImage('quay.io/coreos/etcd:v3.7.3'));
  world.kill('orders-0-0');
  world.kube.remove(resources.pods, namespace, 'orders-0-0');
  for (let rounds = 0; rounds < 20; rounds += 1) world.settle();
  const peer = await world.kube.get(resources.peers, namespace, 'orders-0');
  const peers = [{ name: 'orders-0', uid: peer?.metadata.uid ?? '' }];
  await assert.rejects(carryOut(world, { kind: 'put-back-templates', peers }), /may not go back to 3\.6\.16/);
});

test('a member whose image leaves out a minor is given its own again, and serves', async () => {
  const world = createWorld();
  await world.apply({ replicas: 1, version: '3.5.35' });
  await tickUntilConverged(world);
  await changeSet(world, 'orders-0', withImage('quay.io/coreos/etcd:v3.7.3'));
  world.kill('orders-0-0');
  world.kube.remove(resources.pods, namespace, 'orders-0-0');
  for (let rounds = 0; rounds < 20; rounds += 1) world.settle();
  const pod = await world.kube.get<Pod>(resources.pods, namespace, 'orders-0-0');
  assert.match(pod?.spec?.containers?.[0]?.image ?? '', /v3\.7\.3$/);
  await tickUntilConverged(world);
  const peer = await world.kube.get<EtcdPeer>(resources.peers, namespace, 'orders-0');
  assert.equal(peer?.spec.version, '3.5.35');
  assert.deepEqual(world.violations, []);
});
