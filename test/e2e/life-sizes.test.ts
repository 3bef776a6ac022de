import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isReady, isWholeOf } from './support/conditions.ts';
import { makeLeader } from './support/lead.ts';
import { type Chapter, live } from './support/life.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

const stage = scene();
const name = 'sized';

async function namesOf(resource: typeof resources.peers | typeof resources.volumeClaims): Promise<readonly string[]> {
  const found = await stage().list<EtcdPeer | PersistentVolumeClaim>(resource);
  return found.map(({ metadata }) => metadata.name).toSorted();
}

/** Of those that leave, the one that goes first leads: it hands over. */
function resized(replicas: number): Chapter {
  const members = Array.from({ length: replicas }, (_, ordinal) => `${name}-${ordinal}`);
  return {
    what: `to ${replicas}`,
    spec: { replicas },
    gap: 'bounded',
    happens: async (_, { status }) => {
      const size = status?.members?.length ?? 0;
      if (replicas < size) await makeLeader(stage(), name, `${name}-${size - 1}`);
    },
    until: isWholeOf(replicas),
    proves: async ({ status }) => {
      assert.deepEqual(await namesOf(resources.peers), members);
      assert.deepEqual(
        status?.members?.map((member) => [member.name, member.role, member.healthy]),
        members.map((member) => [member, 'Voter', true]),
      );
      await until('the volumes of members that left are gone', async () => {
        return (await namesOf(resources.volumeClaims)).length === replicas;
      });
    },
  };
}

const isAsleep = (found: EtcdCluster) => isReady(found) && found.status?.lastDecision?.reason === 'Hibernating';

test('commits make 1 member 3 and 5, put 3 to sleep, and leave 1: leaders hand over first', async (t) => {
  await live(stage(), t, {
    name,
    born: { replicas: 1 },
    chapters: [
      resized(3),
      resized(5),
      resized(3),
      {
        what: 'asleep',
        spec: { replicas: 0 },
        until: isAsleep,
        proves: async () => {
          await until('their pods are gone', async () => (await stage().list<Pod>(resources.pods)).length === 0);
          assert.equal((await namesOf(resources.volumeClaims)).length, 3);
        },
      },
      {
        what: 'awake',
        spec: { replicas: 3 },
        until: isWholeOf(3),
        proves: (after, before) => assert.equal(after.status?.clusterID, before.status?.clusterID),
      },
      resized(1),
    ],
  });
});
