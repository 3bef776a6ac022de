import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isWhole, isWholeOf } from './support/conditions.ts';
import { live, restartsFor, runsOn, stepsFor } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene();

const versionsOf = ({ status }: EtcdCluster) => (status?.members ?? []).map(({ version = '' }) => version);

test('a cluster is upgraded and shrunk in one commit, and taken back in the middle of another', async (t) => {
  const isShrunk = isWholeOf(3);
  const isUpgraded = runsOn('3.6.16');
  await live(stage(), t, {
    name: 'both',
    born: { replicas: 5, version: '3.5.35' },
    chapters: [
      {
        what: 'to 3 and to 3.6',
        spec: { replicas: 3, version: '3.6.16' },
        until: (found) => isShrunk(found) && isUpgraded(found),
        proves: (after) => {
          const restarted = restartsFor('UpgradingMember', after);
          assert.deepEqual(
            restarted.toSorted(),
            ['both-0', 'both-1', 'both-2'],
            'members that leave are not restarted',
          );
        },
      },
      { what: 'other options', spec: { etcd: { snapshotCount: 5000 } }, until: isWhole },
      {
        what: 'to 3.7, and back before the last member begins',
        happens: async (name) => {
          const fields = { replicas: 3, version: '3.7.3', etcd: { snapshotCount: 5000 } };
          await stage().pushCluster(name, fields);
          const isMixed = (found: EtcdCluster) => versionsOf(found).filter((one) => one === '3.7.3').length === 1;
          const { status } = await stage().tickUntil(name, isMixed);
          assert.deepEqual([status?.clusterVersion, status?.version], ['3.6.0', '3.6.16..3.7.3']);
          // No plan is asked for: what is left to correct depends on how far the restart has come.
          await stage().pushCluster(name, { ...fields, version: '3.6.16' });
        },
        until: runsOn('3.6.16'),
        proves: (after) => assert.ok(stepsFor('RollingBackVersion', after).length > 0),
      },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
    ],
  });
});
