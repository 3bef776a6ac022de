import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { disruptionBudget } from '../../../manifests/render/disruption-budget.ts';
import { deletePod, evictPod, readOtherPods, readPod } from '../../../reconcile/cluster/act/requests/pods.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Contracts, type Difference, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { member, type PodStart } from './members.ts';
import { clusterName, type Scene } from './scene.ts';

const name = 'orders-0';
const writes: Doing = { does: 'writes to', object: 'pod', name };
const deletes: Doing = { does: 'deletes', object: 'pod', name };
const remakes: Doing = { does: 'makes anew', object: 'pod', name };

const revisionHasNoName: Difference = {
  because: 'an observation tells of a pod that is not up to date only that its revision is another one',
  not: ['answer.revision'],
};

function* gone(by: typeof deletePod | typeof evictPod) {
  const found = yield* readPod({ name });
  if (!found) throw moved('there is no pod');
  yield* othersAct();
  return yield* by({ uid: found.uid, readAt: found.readAt });
}

const withPod = (pod: PodStart) => (scene: Scene) => member(scene, { pod });

/** Three Ready members, and a budget; what it allows is counted by a controller. */
const guarded =
  (minAvailable: number, isReady: (ordinal: number) => boolean = () => true) =>
  async (scene: Scene) => {
    for (const ordinal of [0, 1, 2]) await member(scene, { ordinal, pod: { ready: isReady(ordinal) } });
    const ready = [0, 1, 2].filter(isReady).length;
    const disruptionsAllowed = Math.max(0, ready - minAvailable);
    const status = {
      observedGeneration: 1,
      disruptionsAllowed,
      currentHealthy: ready,
      desiredHealthy: minAvailable,
      expectedPods: 3,
    };
    await scene.makeWithStatus(resources.disruptionBudgets, disruptionBudget(scene.cluster, minAvailable), status);
  };

async function listed(scene: Scene): Promise<void> {
  const cluster = await scene.read<EtcdCluster>('cluster', clusterName);
  const members = [0, 1, 2].map((ordinal) => ({ name: `${clusterName}-${ordinal}`, healthy: true }));
  await scene.kube.updateStatus<EtcdCluster>(resources.clusters, {
    ...cluster,
    status: { observedGeneration: 1, members } as never,
  });
}

export const pods = {
  readPod: [
    { when: 'it is up to date and Ready', start: withPod({ ready: true }), asks: () => readPod({ name }) },
    { when: 'it never started', asks: () => readPod({ name }) },
    {
      when: 'it is of an earlier template',
      start: withPod({ revision: 'orders-earlier' }),
      asks: () => readPod({ name }),
      differs: revisionHasNoName,
    },
    {
      when: 'it is on its way out',
      start: async (scene) => {
        await member(scene, { pod: { node: 'node-1' } });
        await scene.act(deletes);
      },
      asks: () => readPod({ name }),
    },
    { when: 'there is none', start: (scene) => member(scene, { upTo: 'statefulSet' }), asks: () => readPod({ name }) },
  ],
  readOtherPods: [
    { when: 'all are Ready', start: guarded(2), asks: () => readOtherPods({ name }) },
    { when: 'one is not Ready', start: guarded(2, (ordinal) => ordinal < 2), asks: () => readOtherPods({ name }) },
    {
      when: 'one is on its way out',
      start: async (scene) => {
        await member(scene);
        await member(scene, { ordinal: 1, pod: { node: 'node-1', ready: true } });
        await scene.act({ does: 'deletes', object: 'pod', name: 'orders-1' });
        await listed(scene);
      },
      asks: () => readOtherPods({ name }),
    },
    {
      when: 'one belongs to a member that has no peer any more',
      start: async (scene) => {
        await guarded(2, (ordinal) => ordinal < 2)(scene);
        await scene.act({ does: 'deletes', object: 'peer', name: 'orders-2' });
      },
      asks: () => readOtherPods({ name }),
    },
  ],
  evictPod: [
    { when: 'the budget allows it', start: guarded(2), asks: () => gone(evictPod) },
    {
      when: 'it is not Ready, and the others satisfy the budget',
      start: guarded(2, (ordinal) => ordinal > 0),
      asks: () => gone(evictPod),
    },
    {
      when: 'it is not Ready, and the others do not satisfy the budget',
      start: guarded(2, (ordinal) => ordinal > 1),
      asks: () => gone(evictPod),
      refused: 'retryable TooManyRequests',
    },
    { when: 'there is no budget', start: withPod({ ready: true }), asks: () => gone(evictPod) },
    {
      when: 'the budget does not allow it',
      start: guarded(3),
      asks: () => gone(evictPod),
      refused: 'retryable TooManyRequests',
    },
    {
      when: 'others wrote to it',
      start: guarded(2),
      others: [writes],
      asks: () => gone(evictPod),
      refused: 'precondition Conflict',
    },
    { when: 'it is gone by then', start: guarded(2), others: [deletes], asks: () => gone(evictPod) },
    {
      when: 'it was made anew',
      start: guarded(2),
      others: [remakes],
      asks: () => gone(evictPod),
      refused: 'precondition Conflict',
    },
  ],
  deletePod: [
    { when: 'it is as it was read', asks: () => gone(deletePod) },
    { when: 'a kubelet has to end it', start: withPod({ node: 'node-1' }), asks: () => gone(deletePod) },
    { when: 'others wrote to it', others: [writes], asks: () => gone(deletePod), refused: 'precondition Conflict' },
    { when: 'it is gone by then', others: [deletes], asks: () => gone(deletePod) },
    { when: 'it was made anew', others: [remakes], asks: () => gone(deletePod), refused: 'precondition Conflict' },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
