import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import { backupBefore, backupBeforeName } from '../../../../manifests/render/backup-before.ts';
import { createBackup } from '../../../../reconcile/cluster/act/requests/backup.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import { failureOf } from '../../../../reconcile/cluster/know/outcome.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** Another invocation, or a person, was there between the look and the POST. */

const wish = { before: 'deletion' } as const;
const backup = { to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } };

async function applied(change?: (made: EtcdBackup) => EtcdBackup) {
  const world = createWorld();
  await world.apply({ backup });
  const cluster = clusterOf(world);
  const name = backupBeforeName(cluster, wish);
  if (change) await world.kube.create<EtcdBackup>(resources.backups, change(backupBefore(cluster, wish)));
  const asks = (asked = name) =>
    runLive(createBackup({ name: asked, wish }), {
      kube: world.kube,
      cluster,
      etcd: { endpoints: new Map(), connect: () => assert.fail('no member is asked') },
      signal: AbortSignal.timeout(60_000),
    });
  const made = async () => (await world.kube.list<EtcdBackup>(resources.backups, { namespace })).items;
  return { asks, made };
}

function clusterOf(world: World) {
  return world.cluster() ?? assert.fail('there is no cluster');
}

describe('an EtcdBackup that is asked for (I12)', () => {
  test('is made, and asking again changes nothing', async () => {
    const { asks, made } = await applied();
    await asks();
    await asks();
    assert.equal((await made()).length, 1);
  });

  for (const [what, change] of [
    ['without its annotation', (one) => ({ ...one, metadata: { ...one.metadata, annotations: {} } })],
    ['of another cluster', (one) => ({ ...one, spec: { ...one.spec, clusterName: 'another' } })],
  ] as const satisfies readonly (readonly [string, (one: EtcdBackup) => EtcdBackup])[]) {
    test(`is not the one of that name ${what}`, async () => {
      const { asks } = await applied(change);
      await assert.rejects(asks(), (error) => failureOf(error).reason === 'NameTaken');
    });
  }

  test('is not made under a name that the spec does not ask for any more', async () => {
    const { asks, made } = await applied();
    await assert.rejects(asks('orders-before-another'), (error) => failureOf(error).reason === 'WorldMoved');
    assert.deepEqual(await made(), []);
  });
});
