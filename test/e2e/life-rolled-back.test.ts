import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { snapshotOf } from '../../manifests/render/restored-cluster.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, reasonOf } from './support/backups.ts';
import { isConverged, isStalledFor, isWhole, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene({ furnish: makeBackupStore });
const name = 'undone';

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db', compression: 'Zstd' } as const;

/** Born, written to, backed up, spoilt, and back under the same name: what it lives on with afterwards. */
async function rolledBack(): Promise<Readonly<Record<string, unknown>>> {
  const { tickUntil, access, pushCluster } = stage();
  await pushCluster(name);
  const { status } = await tickUntil(name, isConverged);
  const client = await access(name);
  await writeKey(client, 'balance', 'right');
  await createBackup(stage(), 'before', { clusterName: name, to });
  const backup = await backupUntil(stage(), 'before', (one) => reasonOf(one) === 'Verified');
  await writeKey(client, 'balance', 'wrong');
  const fields = { rollback: { clusterID: status?.clusterID, snapshot: snapshotOf(backup) } };
  await pushCluster(name, fields);
  const asked = await tickUntil(name, isStalledFor('RollbackNotApproved', { unchanged: true }));
  await approve(stage(), name, approvalAskedBy(asked));
  const isBack = (found: EtcdCluster) => isWhole(found) && found.status?.clusterID !== status?.clusterID;
  await tickUntil(name, isBack, 240);
  assert.equal(await readKey(client, 'balance'), 'right');
  return fields;
}

test('a cluster that was rolled back is upgraded, grows and shrinks', async (t) => {
  await live(stage(), t, {
    name,
    born: await rolledBack(),
    chapters: [
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
      { what: 'to 5', spec: { replicas: 5 }, until: isWholeOf(5) },
      { what: 'without its rollback, to 3', spec: { rollback: undefined, replicas: 3 }, until: isWholeOf(3) },
    ],
  });
  assert.equal(await readKey(await stage().access(name), 'balance'), 'right');
});
