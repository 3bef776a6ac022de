import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { namespace, type World } from '../../../support/world/world.ts';

/** A rollback whose data are lost once they are there, before the cluster that it gives up has ended, or after that. */

const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };

const states = (world: World) => world.claims().map(({ metadata }) => metadata.annotations?.[annotations.volumeState]);

/** An approved rollback, up to where a volume is in this state. */
async function rollingBack(until: 'restored' | 'superseded'): Promise<World> {
  const world = await bornWith({ replicas: 3 });
  const clusterID = world.cluster()?.status?.clusterID ?? '';
  await world.apply({ replicas: 3, rollback: { clusterID, snapshot } });
  await tickUntilConverged(world);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const value = cluster.status?.approvals?.[0]?.value ?? assert.fail('no approval is asked for');
  const given = { ...cluster.metadata.annotations, [annotations.rollBack]: value };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
  for (let ticks = 0; ticks < 100 && !states(world).includes(until); ticks += 1) {
    world.settle();
    await world.tick();
    world.advance(2);
  }
  assert.ok(states(world).includes(until));
  return world;
}

/** The PersistentVolume behind a PVC is gone, and the PVC stays. */
function losePersistentVolume(world: World, name: string): void {
  const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
  world.kube.remove(resources.persistentVolumes, undefined, claim.spec.volumeName ?? '');
  world.kube.seed(resources.volumeClaims, { ...claim, status: { ...claim.status, phase: 'Lost' } } as never);
}

describe('before a member of the cluster that it gives up was told', () => {
  for (const [how, lose] of [
    ['lost', losePersistentVolume],
    ['deleted', (world: World, name: string) => world.loseVolume(name)],
  ] as const) {
    test(`a volume that is ${how} calls the rollback off: the members serve on, and it begins anew`, async () => {
      const world = await rollingBack('restored');
      lose(world, 'orders-3');
      const reached = await tickUntilConverged(world, { limit: 300 });
      assert.equal(reached.kind, 'done', reached.trail.join('\n'));
      const acts = reached.trail.filter((line) => line.startsWith('act '));
      const [off, again, end] = ['CallingOffRollback', 'RollingBack', 'StoppingMembers'].map((reason) =>
        acts.findIndex((line) => line.includes(` ${reason} `)),
      );
      assert.ok(how === 'deleted' || (off !== undefined && off >= 0), reached.trail.join('\n'));
      assert.ok(again !== undefined && end !== undefined && again >= 0 && again < end, reached.trail.join('\n'));
      assert.deepEqual(world.violations, []);
    });
  }
});

describe('when the members of the cluster that it gives up end', () => {
  test('a volume that is lost tells to let that one PVC go, and keeps the others; the cure helps', async () => {
    const world = await rollingBack('superseded');
    losePersistentVolume(world, 'orders-3');
    const stalled = await tickUntilConverged(world);
    assert.deepEqual([stalled.kind, stalled.reason], ['refuse', 'RecoveryVolumeLost'], stalled.trail.join('\n'));
    const told = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    assert.match(told, /data are on the volumes orders-0, orders-1, orders-2.*keep these.*delete pvc orders-3/s);
    assert.doesNotMatch(told, /delete the EtcdCluster/);
    for (const name of [...told.matchAll(/delete statefulset (\S+?)[;.,]?(?: |$)/g)].flatMap(([, one = '']) => one))
      world.kube.remove(resources.statefulSets, namespace, name);
    world.kube.remove(resources.volumeClaims, namespace, 'orders-3');
    const reached = await tickUntilConverged(world, { limit: 300 });
    assert.equal(reached.kind, 'done', reached.trail.join('\n'));
    assert.deepEqual(world.violations, []);
  });
});
