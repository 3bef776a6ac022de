import assert from 'node:assert/strict';
import { annotations } from '../../../manifests/render/names.ts';
import { approvalOfAdoption } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { assertOneCluster } from './converge.ts';
import { namesOnTheirList, startOthers } from './others.ts';
import { createWorld, name, type World } from './world.ts';

/** A cluster of others that serves, and an EtcdCluster that asks to take it over. */
export async function besideOthers(pods: readonly string[], replicas: number): Promise<World> {
  const world = createWorld();
  world.state.watchful = true;
  const { clusterID, memberIDs, podLabels } = startOthers(world, pods);
  await world.apply({ replicas, bootstrap: { existing: { clusterID, memberIDs, podLabels } } });
  return world;
}

/** A person approves that the others leave; or takes that back. */
export async function approveLeaving(world: World, isApproved = true): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('there is no EtcdCluster');
  const existing = cluster.spec.bootstrap?.existing ?? assert.fail('it takes over nothing');
  const { [annotations.adopt]: _, ...others } = cluster.metadata.annotations ?? {};
  const given = isApproved ? { [annotations.adopt]: approvalOfAdoption(existing) } : {};
  const metadata = { ...cluster.metadata, annotations: { ...others, ...given } };
  await world.kube.update(resources.clusters, { ...cluster, metadata });
}

/** A commit removes what the spec says of the others; no API server refuses it here. */
export async function forgetExisting(world: World): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('there is no EtcdCluster');
  await world.kube.update(resources.clusters, { ...cluster, spec: { ...cluster.spec, bootstrap: {} } });
}

/** Members that etcd-ratchet made, on the list of the others' cluster. */
export function oursOnTheList(world: World): readonly string[] {
  return namesOnTheirList(world).filter((member) => member.startsWith(`${name}-`));
}

/** Ours alone, in the cluster of the others, with every write that it ever acknowledged. */
export function assertTakenOver(world: World, replicas: number, story: string): void {
  assert.deepEqual(world.violations, [], story);
  const formed = [...world.formations].filter(([, formation]) => formation.formed);
  assert.equal(formed.length, 1, `one cluster ever formed: ${story}`);
  assert.ok(formed[0]?.[1].others, `and it is that of the others: ${story}`);
  assertOneCluster(world, replicas, story);
  assert.deepEqual(oursOnTheList(world), namesOnTheirList(world), story);
}
