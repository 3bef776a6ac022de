import assert from 'node:assert/strict';
import { smallestVolume } from '../../../../manifests/api/quota-room.ts';
import type { Pod } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { connectTo } from '../client.ts';
import { condition, isStalledFor, isWholeOf } from '../conditions.ts';
import { node } from '../node.ts';
import type { Scene } from '../scene.ts';
import {
  bothOf,
  chosenOf,
  comeBack,
  hang,
  hangOne,
  isKept,
  loseChosen,
  loseMarked,
  ofTwo,
  onNodesApart,
  otherThan,
  returned,
  serving,
} from './recovery-steps.ts';
import { loseVolumes, push, type Story } from './story.ts';

/** Of docs/runbooks/lost-quorum.md: what gets in the way of a recovery that a person approved. */

const approving = ['what-you-see', 'else-go-on-with-the-member-that-has-the-most-data', 'while-it-recovers'];
const recovers = {
  page: 'lost-quorum.md',
  sections: approving,
  reason: 'QuorumLost',
  over: isWholeOf(2),
  check: isKept,
} as const;

const bounded = (size: string) => ({ storage: { size, storageClassName: 'bounded' } });
const unavailable = { image: { repository: 'registry.example/etcd' } };
const tooSmall = { resources: { limits: { memory: '4Mi' } } };
const refusedByEtcd = { etcd: { extraArgs: { 'max-txn-ops': 'many' } } };
const largeEnough = { resources: { limits: { memory: '512Mi' } } };

/** On the smallest volume, the log and 40 MB leave no room for a copy. Resolves with the member that is to be lost. */
async function crowded(scene: Scene, name: string): Promise<string> {
  const lost = await serving(scene, name, bounded(smallestVolume));
  const client = connectTo(await scene.access(name), 5000);
  try {
    for (let number = 0; number < 40; number += 1) await client.put(`bulk/${number}`).value('x'.repeat(1_000_000));
  } finally {
    client.close();
  }
  return lost;
}

export const ofRecoveries: readonly Story[] = [
  {
    ...recovers,
    title: 'the Job of a recovery lacks room, its image, then memory, and has a flag that etcd refuses',
    name: 'job',
    async happen(scene, name) {
      const lost = await crowded(scene, name);
      await loseVolumes(scene, lost);
      await push(scene, name, { ...ofTwo, ...bounded(smallestVolume), ...unavailable });
      return undefined;
    },
    interrupted: [
      {
        reason: 'NoRoomForCopy',
        sections: ['there-is-no-room-for-the-copy'],
        names: async (scene, name) => ({ MEMBER: await chosenOf(scene, name), SIZE: '800Mi' }),
        correct: (scene, name) => push(scene, name, { ...ofTwo, ...bounded('800Mi'), ...unavailable }),
      },
      {
        reason: 'RecoveryPodStuck',
        sections: ['the-job-does-not-run'],
        correct: (scene, name) => push(scene, name, { ...ofTwo, ...bounded('800Mi'), ...tooSmall }),
      },
      {
        reason: 'RecoveryOutOfMemory',
        sections: ['the-job-does-not-run'],
        correct: (scene, name) =>
          push(scene, name, { ...ofTwo, ...bounded('800Mi'), ...largeEnough, ...refusedByEtcd }),
      },
      {
        reason: 'RecoveryFailed',
        sections: ['the-job-has-failed'],
        names: async (scene, name) => ({ MEMBER: await chosenOf(scene, name) }),
        correct: (scene, name) => push(scene, name, { ...ofTwo, ...bounded('800Mi'), ...largeEnough }),
      },
    ],
  },
  {
    ...recovers,
    title: 'the lost member comes back after the approval: it is called off, and the next one goes on',
    name: 'returns',
    happen: hangOne,
    interrupted: [
      {
        reason: 'QuorumReturned',
        sections: ['members-came-back'],
        happen: returned,
        names: bothOf,
      },
      {
        reason: 'QuorumLost',
        sections: approving,
        async happen(scene, name) {
          const { status } = await scene.tickUntil(name, isWholeOf(2));
          const members = status?.members?.map((member) => member.name);
          assert.deepEqual(members?.toSorted(), [`${name}-0`, `${name}-1`], 'both are the members of before');
          await hang(scene, otherThan(status?.leader ?? assert.fail('no leader')));
        },
      },
      {
        reason: 'QuorumReturned',
        sections: ['go-on-although-members-came-back'],
        happen: returned,
        names: bothOf,
      },
    ],
  },
  {
    ...recovers,
    title: 'the PVC that a recovery goes on from is deleted, and so is the next one',
    name: 'disk',
    happen: hangOne,
    interrupted: [
      {
        reason: 'RecoveryVolumeLost',
        sections: ['the-disk-of-the-recovery-is-lost'],
        happen: loseMarked,
        names: async (scene, name) => {
          const chosen = await chosenOf(scene, name);
          return { LOST: chosen, MEMBER: otherThan(chosen) };
        },
        correct: comeBack,
      },
      {
        reason: 'RecoveryVolumeLost',
        sections: ['the-pvc-of-the-recovery-is-being-deleted'],
        happen: loseChosen,
        names: async (scene, name) => ({ MEMBER: await chosenOf(scene, name) }),
      },
    ],
  },
  {
    ...recovers,
    title: 'a node is silent, and the pod of the lost member may still run there',
    name: 'silent',
    async happen(scene, name) {
      const lost = await serving(scene, name, onNodesApart);
      const pod = await scene.get<Pod>(resources.pods, `${lost}-0`);
      const NODE = pod?.spec.nodeName ?? assert.fail('no node');
      await node().loseNode(NODE);
      return { NODE };
    },
    interrupted: [{ reason: 'MemberNotFenced', sections: ['a-node-is-silent'] }],
  },
  {
    ...recovers,
    title: 'roles of an earlier release, and no room for a copy',
    name: 'rights',
    withoutJobs: true,
    async happen(scene, name) {
      const lost = await crowded(scene, name);
      await loseVolumes(scene, lost);
      return undefined;
    },
    interrupted: [
      { reason: 'RecoveryNotPermitted', sections: ['etcd-ratchet-may-not-look-at-jobs'] },
      { reason: 'NoRoomForCopy', sections: ['go-on-without-a-copy'] },
    ],
  },
  {
    ...recovers,
    title: 'a power failure takes one disk, and the survivor starts anew: its metrics tell what is kept',
    name: 'anew',
    async happen(scene, name) {
      const lost = await serving(scene, name);
      const survivor = otherThan(lost);
      await loseVolumes(scene, lost);
      await node().killContainer(scene.namespace, `${survivor}-0`, 'etcd');
      return undefined;
    },
    seen: (cluster) =>
      isStalledFor('QuorumLost')(cluster) &&
      (cluster.status?.approvals ?? []).length > 0 &&
      /started without a quorum/.test(condition(cluster, 'Stalled')?.message ?? ''),
  },
];
