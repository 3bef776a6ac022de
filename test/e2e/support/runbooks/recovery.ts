import assert from 'node:assert/strict';
import { isWholeOf } from '../conditions.ts';
import { readKey, writeKey } from '../keys.ts';
import { node } from '../node.ts';
import type { Scene } from '../scene.ts';
import { born, type Fields, loseVolumes, push, type Story } from './story.ts';

/** Of docs/runbooks/lost-quorum.md: what gets in the way of a recovery that a person approved. */

const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };
const ofTwo = { replicas: 2, healing };
const approving = ['what-you-see', 'else-go-on-with-the-member-that-has-the-most-data', 'while-it-recovers'];
const recovers = { page: 'lost-quorum.md', sections: approving, reason: 'QuorumLost', over: isWholeOf(2) } as const;

/** Two members with a key, one of which is to be lost. */
async function serving(scene: Scene, name: string, fields: Fields = {}): Promise<{ readonly lost: string }> {
  const { status } = await born(scene, name, { ...ofTwo, ...fields });
  await writeKey(await scene.access(name), 'precious', 'of both');
  return { lost: status?.members?.find((member) => member.name !== status.leader)?.name ?? assert.fail('no follower') };
}

async function isKept(scene: Scene, name: string): Promise<void> {
  assert.equal(await readKey(await scene.access(name), 'precious'), 'of both');
}

/** The member from whose data the cluster goes on: the other one of two. */
async function survivorOf(scene: Scene, name: string): Promise<string> {
  const { status } = await scene.cluster(name);
  const found = status?.lastDecision?.message.match(new RegExp(`${name}-\\d+(?=-recovery)`))?.[0];
  return found ?? assert.fail(JSON.stringify(status?.lastDecision));
}

const tooSmall = { resources: { limits: { memory: '4Mi' } } };
const largeEnough = { resources: { limits: { memory: '512Mi' } } };

export const ofRecoveries: readonly Story[] = [
  {
    ...recovers,
    title: 'the Job of a recovery does not start, has too little memory, and finds its data damaged',
    name: 'job',
    async happen(scene, name) {
      const { lost } = await serving(scene, name);
      await loseVolumes(scene, lost);
      await push(scene, name, { ...ofTwo, image: { repository: 'registry.example/etcd' } });
      return undefined;
    },
    interrupted: [
      {
        reason: 'RecoveryPodStuck',
        sections: ['the-job-does-not-run'],
        correct: (scene, name) => push(scene, name, { ...ofTwo, ...tooSmall }),
      },
      {
        reason: 'RecoveryOutOfMemory',
        sections: ['the-job-does-not-run'],
        async correct(scene, name) {
          const survivor = await survivorOf(scene, name);
          assert.ok(await node().alterVolume(scene.namespace, survivor, '/data/member/wal/', 'of both', 'of none'));
          await push(scene, name, { ...ofTwo, ...largeEnough });
        },
      },
      {
        reason: 'RecoveryFailed',
        sections: ['the-job-has-failed'],
        happen: async (scene, name) => ({ MEMBER: await survivorOf(scene, name) }),
      },
    ],
    check: isKept,
  },
];
