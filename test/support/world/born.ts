import assert from 'node:assert/strict';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { tickUntilConverged } from './converge.ts';
import { createWorld, type World } from './world.ts';

const born = new Map<string, Promise<World>>();

/**
 * A world of its own in which a cluster with that spec is at rest. Each spec is born once in a process; every caller
 * gets a fork. @throws {AssertionError} when it does not come to rest as it should.
 */
export async function bornWith(spec: Partial<EtcdClusterSpec>, limit = 120): Promise<World> {
  const key = JSON.stringify(spec);
  const first = born.get(key) ?? birth(spec, limit);
  born.set(key, first);
  return (await first).fork();
}

async function birth(spec: Partial<EtcdClusterSpec>, limit: number): Promise<World> {
  const world = createWorld();
  await world.apply(spec);
  const end = await tickUntilConverged(world, { limit });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  return world;
}
