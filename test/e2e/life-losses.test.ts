import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { connectTo } from './support/client.ts';
import { isWhole } from './support/conditions.ts';
import { type Chapter, live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

const stage = scene();

// Long enough for a new member to start on a machine that is busy: a learner has as long to come.
// A pod that needs longer on a busy machine would be made anew, which no plan foretells.
const healing = { podGracePeriod: '15s', memberGracePeriod: '25s' };

function leaderOf({ status }: EtcdCluster): string {
  return status?.leader ?? assert.fail('no leader');
}

function followerOf(cluster: EtcdCluster) {
  const found = cluster.status?.members?.find(({ name }) => name !== leaderOf(cluster));
  return found ?? assert.fail('no follower');
}

/** Whole again, without the member that was lost. */
function replaced(what: string, victimOf: (cluster: EtcdCluster) => string, lose: Chapter['happens']): Chapter {
  let victim = '';
  return {
    what,
    happens: async (name, cluster) => {
      victim = victimOf(cluster);
      await lose?.(name, cluster);
    },
    until: (found) => isWhole(found) && found.status?.members?.every((member) => member.name !== victim) === true,
  };
}

async function deleteVolume(_: string, cluster: EtcdCluster): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['-n', namespace, 'delete', 'pvc', leaderOf(cluster), '--wait=false']);
}

/** As with etcdctl. */
async function removeMember(name: string, cluster: EtcdCluster): Promise<void> {
  const ID = BigInt(`0x${followerOf(cluster).id}`).toString();
  const client = connectTo(await stage().access(name), 5_000);
  try {
    await until('etcd agrees to the removal', async () => {
      // A removal that was answered too late was carried out all the same.
      const { members } = await client.cluster.memberList({ linearizable: true });
      return members.every((member) => member.ID !== ID) || client.cluster.memberRemove({ ID });
    });
  } finally {
    client.close();
  }
}

test('a cluster loses a volume, a member and a pod, and is upgraded afterwards', async (t) => {
  await live(stage(), t, {
    name: 'bereft',
    born: { healing },
    chapters: [
      {
        ...replaced("the leader's PVC is deleted", leaderOf, deleteVolume),
        // It votes until its replacement does.
        proves: ({ status }) => {
          const actions = (status?.history ?? []).map(({ action }) => action);
          assert.ok(actions.includes('remove-member'), actions.join());
          assert.ok(actions.lastIndexOf('seal-members') < actions.indexOf('remove-member'), actions.join());
        },
      },
      {
        ...replaced('a member is removed by hand', (cluster) => followerOf(cluster).name, removeMember),
        proves: async (_, before) => {
          const kept = await stage().get<PersistentVolumeClaim>(resources.volumeClaims, followerOf(before).name);
          assert.equal(kept?.metadata.annotations?.[annotations.volumeState], 'superseded');
        },
      },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
    ],
  });
});
