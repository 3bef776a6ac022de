import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { isConverged } from './support/conditions.ts';
import { watchLeader } from './support/leader-last.ts';
import { type Chapter, live, restartsFor, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene();

/** All members restart, each once, the leader last, and the etcd cluster is the same. */
function leaderLast(reason: string, chapter: Chapter): Chapter {
  const restarts = (found: EtcdCluster) => restartsFor(reason, found);
  const watched = watchLeader(restarts);
  const isDone = chapter.until ?? isConverged;
  return {
    ...chapter,
    gap: 'bounded',
    until: (found) => {
      watched.look(found);
      return isDone(found);
    },
    proves: (after, before) => {
      assert.equal(restarts(after).length, 3, 'each once');
      watched.assert(3);
      assert.equal(after.status?.clusterID, before.status?.clusterID);
    },
  };
}

function toVersion(version: string): Chapter {
  return leaderLast('UpgradingMember', { what: `to ${version}`, spec: { version }, until: runsOn(version) });
}

test('a cluster that is born on 3.5 goes to 3.7 by way of 3.6 and other options', async (t) => {
  await live(stage(), t, {
    name: 'old',
    born: { version: '3.5.35' },
    chapters: [
      toVersion('3.6.16'),
      leaderLast('RollingConfiguration', { what: 'other options', spec: { etcd: { snapshotCount: 5000 } } }),
      toVersion('3.7.3'),
    ],
  });
});
