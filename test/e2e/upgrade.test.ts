import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';

const stage = scene({ clearedBetween: true });

function versionsOf({ status }: EtcdCluster): readonly string[] {
  return (status?.members ?? []).map(({ version = '' }) => version);
}

function runs(version: string): (cluster: EtcdCluster) => boolean {
  return (cluster) =>
    isReady(cluster) &&
    versionsOf(cluster).every((found) => found === version) &&
    cluster.status?.clusterVersion === version.replace(/\d+$/, '0');
}

const reasonsOf = ({ status }: EtcdCluster) => (status?.history ?? []).map(({ reason }) => reason);

test('a quiet cluster of one born on 3.5 reaches 3.7: it takes a snapshot under 3.6 first', async () => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('quiet', { replicas: 1, version: '3.5.35' });
  await tickUntil('quiet', runs('3.5.35'));
  await writeKey(await access('quiet'), 'old', 'written by 3.5');
  await stage().pushCluster('quiet', { replicas: 1, version: '3.6.16' });
  await tickUntil('quiet', runs('3.6.16'));
  await stage().pushCluster('quiet', { replicas: 1, version: '3.7.3' });
  const done = await tickUntil('quiet', runs('3.7.3'), 120);
  assert.ok(reasonsOf(done).includes('PreparingUpgrade'));
  assert.equal(await readKey(await access('quiet'), 'old'), 'written by 3.5');
});

test('one that was born on 3.6 needs no such thing', async () => {
  const { tickUntil, access } = stage();
  await stage().pushCluster('young', { replicas: 1 });
  await tickUntil('young', runs('3.6.16'));
  await writeKey(await access('young'), 'key', 'value');
  await stage().pushCluster('young', { replicas: 1, version: '3.7.3' });
  const done = await tickUntil('young', runs('3.7.3'), 120);
  assert.ok(!reasonsOf(done).includes('PreparingUpgrade'));
  assert.equal(await readKey(await access('young'), 'key'), 'value');
});

test('what etcd does not survive is refused by name, and the rest of the commit is honoured', async () => {
  const { tickUntil } = stage();
  await stage().pushCluster('no', { replicas: 1, version: '3.5.35' });
  await tickUntil('no', runs('3.5.35'));
  await stage().pushCluster('no', { replicas: 1, version: '3.7.3', etcd: { snapshotCount: 5000 } });
  const skipped = await tickUntil('no', isStalledFor('MinorSkipped'), 120);
  assert.match(condition(skipped, 'Stalled')?.message ?? '', /To go on: set spec\.version to a 3\.6 first/);
  assert.ok(reasonsOf(skipped).includes('RollingConfiguration'), 'the other option was given to the member');
  assert.deepEqual(versionsOf(skipped), ['3.5.35']);
});

test('an image that does not exist stops a cluster of one, and reverting the commit starts it', async () => {
  const { tickUntil } = stage();
  await stage().pushCluster('typo', { replicas: 1, version: '3.5.35' });
  await tickUntil('typo', runs('3.5.35'));
  await stage().pushCluster('typo', { replicas: 1, version: '3.6.99' });
  await tickUntil('typo', isStalledFor('ImageUnavailable'));
  await stage().pushCluster('typo', { replicas: 1, version: '3.5.35' });
  await tickUntil('typo', runs('3.5.35'), 120);
});
