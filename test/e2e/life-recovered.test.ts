import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { condition, isStalledFor, isWholeOf } from './support/conditions.ts';
import { live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene();
const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };

test('a cluster loses its quorum, is recovered by approval, grows and is upgraded', async (t) => {
  await live(stage(), t, {
    name: 'forced',
    born: { healing },
    chapters: [
      {
        what: 'two of three volumes are lost',
        happens: async (_, { status }) => {
          const { kubectl, namespace } = stage();
          const lost = (status?.members ?? []).map((member) => member.name).filter((one) => one !== status?.leader);
          await kubectl(['-n', namespace, 'delete', 'pvc', ...lost, '--wait=false']);
          await kubectl(['-n', namespace, 'delete', 'pod', ...lost.map((one) => `${one}-0`), '--grace-period=1']);
        },
        until: isStalledFor('QuorumLost', { unchanged: true }),
        proves: (after) => assert.equal(condition(after, 'Available')?.status, 'False'),
      },
      {
        what: 'a person approves',
        happens: (name, cluster) => approve(stage(), name, approvalAskedBy(cluster)),
        until: isWholeOf(3),
        proves: (after, before) => assert.deepEqual(after.status?.gaveUp, [before.status?.clusterID]),
      },
      { what: 'to 5', spec: { replicas: 5 }, until: isWholeOf(5) },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
    ],
  });
});
