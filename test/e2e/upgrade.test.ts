import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isReady } from './support/conditions.ts';
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
