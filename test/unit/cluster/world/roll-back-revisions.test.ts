import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import { revisionsAhead } from '../../../../manifests/render/revisions.ts';
import { readVolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { name, namespace, type World } from '../../../support/world/world.ts';

/** The world tells where clients that resume would be served below what they saw (I17). */

const object = 'gs://backups/orders/a.db';
/** Nobody said of which revision it is. */
const unnamed = { object };
const named = { object, revision: 100_000 };

async function rolledBack(world: World, replicas: number, snapshot: { readonly object: string }): Promise<Converged> {
  const clusterID = world.cluster()?.status?.clusterID ?? assert.fail('no cluster ID');
  await world.apply({ replicas, rollback: { clusterID, snapshot } });
  await tickUntilConverged(world);
  const [approval] = world.cluster()?.status?.approvals ?? [];
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const given = { ...cluster.metadata.annotations, [annotations.rollBack]: approval?.value ?? '' };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
  const end = await tickUntilConverged(world, { limit: 400 });
  assert.notEqual(world.cluster()?.status?.clusterID, clusterID, end.trail.join('\n'));
  return end;
}

const sawIn = (world: World) => world.state.saw.get(`${namespace}/${name}`)?.revision ?? 0;

function floorsIn(world: World): readonly (number | undefined)[] {
  return world.claims().flatMap(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    return read.kind === 'valid' && read.record.state === 'sealed' ? [read.record.revisionFloor] : [];
  });
}

/** As if its clients had written for years. */
function busy(world: World, revisions: number): void {
  for (const formation of world.formations.values()) formation.ahead = (formation.ahead ?? 0) + revisions;
  world.settle();
}

for (const [what, snapshot] of [
  ['whose revision is known', named],
  ['whose revision nobody said', unnamed],
] as const) {
  test(`two rollbacks of a busy cluster to a snapshot ${what} begin above all that clients saw`, async () => {
    const world = await bornWith({ replicas: 3 });
    for (let life = 1; life <= 2; life += 1) {
      busy(world, 3_000_000_000);
      const saw = sawIn(world);
      assert.ok(saw >= 3_000_000_000, `${saw}`);
      const end = await rolledBack(world, 3, snapshot);
      const floors = floorsIn(world);
      assert.equal(floors.length, 3, end.trail.join('\n'));
      assert.equal(new Set(floors).size, 1, 'every volume that joins gets a copy');
      assert.ok((floors[0] ?? 0) >= saw + revisionsAhead, `${floors[0]}`);
      const written = sawIn(world) - (floors[0] ?? 0);
      assert.ok(written >= 0 && written < 1000, `it is known to begin ${written} before`);
      assert.equal(world.cluster()?.status?.revisionFloor, floors[0]);
    }
  });
}
