import type { PodDisruptionBudget } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { evictPod, holdCluster, letGoCluster, moveLeader } from '../../../../reconcile/nodes/requests/leaving.ts';
import type { Sim } from '../../../../reconcile/nodes/sim-host.ts';
import type { Difference } from '../contract.ts';
import { changing, onEachMinor, steady, unknownMember, wrongCluster } from '../running.ts';
import { type NodeContracts, othersAct } from './contract.ts';
import type { NodesScene } from './scene.ts';

const aloneInIt: Difference = {
  because: 'no other invocation is there in a plan, so nothing looks at a lease',
  not: ['left.held'],
};

const everyBudget: Difference = {
  because: 'a plan takes it that every budget lets pods go in time',
  not: ['answer', 'left.nodes'],
};

const everyMove: Difference = {
  because: 'a plan takes it that etcd does what it is asked for',
  model: 'well',
  not: ['left.leaders'],
};

function* held(_: Sim, { key }: NodesScene) {
  yield* othersAct();
  return yield* holdCluster({ key });
}

function* letGo(_: Sim, { key }: NodesScene) {
  yield* holdCluster({ key });
  yield* othersAct();
  return yield* letGoCluster({ key });
}

const onePod = (scene: NodesScene) => scene.pod('app', { labels: { app: 'shop' } });

/** What it allows is counted by a controller. */
const guarded = (disruptionsAllowed: number) => async (scene: NodesScene) => {
  await onePod(scene);
  const budget = { metadata: { name: 'shop' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'shop' } } } };
  const counted = { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
  await scene.makeWithStatus(resources.disruptionBudgets, budget as PodDisruptionBudget, counted);
};

const evicted = (byDeletion = false) =>
  function* ({ seen }: Sim) {
    const [pod] = seen.nodes.flatMap(({ pods = [] }) => pods);
    if (!pod) throw new Error('there is no pod');
    yield* othersAct();
    const { namespace, name, uid, resourceVersion } = pod;
    return yield* evictPod({ pod: { namespace, name, uid, resourceVersion, ...(byDeletion && { byDeletion }) } });
  };

function led({ seen: { clusters } }: Sim, to: 'leader' | 'follower' | 'nobody', clusterId?: string) {
  const [cluster] = clusters;
  const found = cluster?.members.find(({ leads, voter }) => voter && leads === (to === 'leader'));
  const { name = 'none', memberId = unknownMember } = to === 'nobody' ? {} : (found ?? {});
  const from = cluster?.members.find(({ leads }) => leads)?.name ?? 'none';
  return moveLeader({
    cluster: cluster?.key ?? '',
    clusterId: clusterId ?? cluster?.clusterId ?? '',
    from,
    name,
    memberId,
  });
}

export const leaving = {
  holdCluster: [
    { when: 'it is as it was observed', asks: held, differs: aloneInIt },
    {
      when: 'others wrote to it',
      others: [{ does: 'writes to', object: 'cluster', name: 'cluster' }],
      asks: held,
      refused: 'precondition Conflict',
    },
  ],
  letGoCluster: [
    { when: 'it is as it was held', asks: letGo },
    {
      when: 'its spec was written to meanwhile',
      others: [{ does: 'writes to', object: 'cluster', name: 'cluster' }],
      asks: letGo,
    },
  ],
  evictPod: [
    { when: 'there is no budget', start: onePod, asks: evicted() },
    { when: 'its budget allows it', start: guarded(1), asks: evicted() },
    { when: 'its budget keeps it', start: guarded(0), asks: evicted(), differs: everyBudget },
    { when: 'it is deleted past its budget', start: guarded(0), asks: evicted(true) },
    {
      when: 'others wrote to it',
      start: onePod,
      others: [{ does: 'writes to', object: 'pod', name: 'app' }],
      asks: evicted(),
    },
    {
      when: 'it is gone by then',
      start: onePod,
      others: [{ does: 'deletes', object: 'pod', name: 'app' }],
      asks: evicted(),
    },
  ],
  moveLeader: onEachMinor<NodesScene, Sim>((version) => [
    {
      when: 'another voter is to lead',
      ...changing(version, 'with two voters', { unsealed: true }),
      asks: (seen) => led(seen, 'follower'),
    },
    { when: 'it leads already', start: steady(version, { unsealed: true }), asks: (seen) => led(seen, 'leader') },
    {
      when: 'it is not on the list',
      start: steady(version, { unsealed: true }),
      asks: (seen) => led(seen, 'nobody'),
      refused: 'precondition BadTransferee',
      differs: everyMove,
    },
    {
      when: 'another cluster answers',
      start: steady(version, { unsealed: true }),
      asks: (seen) => led(seen, 'follower', wrongCluster),
      refused: 'precondition ClusterIdMismatch',
      differs: everyMove,
    },
  ]),
} as const satisfies Readonly<Record<string, NodeContracts>>;
