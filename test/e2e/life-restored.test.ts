import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotOf } from '../../manifests/render/restored-cluster.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, reasonOf } from './support/backups.ts';
import { isConverged, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene({ furnish: makeBackupStore });

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db', compression: 'Zstd' } as const;

test('a cluster that is born from a backup of another grows, is upgraded, sleeps and wakes', async (t) => {
  await stage().pushCluster('first', { replicas: 1 });
  await stage().tickUntil('first', isConverged);
  await writeKey(await stage().access('first'), 'greeting', 'from the first');
  await createBackup(stage(), 'first-now', { clusterName: 'first', to });
  const backup = await backupUntil(stage(), 'first-now', (one) => reasonOf(one) === 'Verified');
  const snapshot = snapshotOf(backup) ?? assert.fail('there is no object');
  const asleep = (found: Parameters<typeof isConverged>[0]) =>
    found.status?.lastDecision?.reason === 'Hibernating' && found.spec.replicas === 0;
  await live(stage(), t, {
    name: 'second',
    born: { bootstrap: { snapshot } },
    chapters: [
      { what: 'to 5', spec: { replicas: 5 }, until: isWholeOf(5) },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
      { what: 'asleep', spec: { replicas: 0 }, until: asleep },
      { what: 'awake', spec: { replicas: 5 }, until: isWholeOf(5) },
    ],
  });
  assert.equal(await readKey(await stage().access('second'), 'greeting'), 'from the first');
});
