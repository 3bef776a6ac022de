import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { backupKind } from '../../../reconcile/backup/kind.ts';
import { type LeftOut, resources } from '../../../reconcile/interfaces/kube.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

test('a backup whose cluster a list leaves out just now is not told that it is absent', async () => {
  const world = createWorld();
  await world.apply();
  const spec = { clusterName: 'orders', to: { object: 's3://bucket/{{timestamp}}.db' } };
  const backup: EtcdBackup = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { namespace, name: 'now', uid: 'now' },
    spec,
  };
  world.kube.seed(resources.backups, backup);
  const leftOut = new Map<string, LeftOut>();
  const lists = createLists(
    new Map([
      [
        'cluster',
        async () => {
          leftOut.set(namespace, { bytes: 2, plural: 'configmaps', mostBytes: 1 });
          return { items: [], resourceVersion: '1' };
        },
      ],
    ]),
  );
  const kube = { ...world.kube, leftOut: () => leftOut };
  const context = { ...passIn(world, { kube }), lists, fleets: [], chosen: () => [] };
  const results = await backupKind.step([backup], context);
  assert.deepEqual(
    results.map(({ reason }) => reason),
    [],
  );
  assert.equal(world.kube.stored<EtcdBackup>(resources.backups)[0]?.status, undefined);
});
