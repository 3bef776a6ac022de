import type { Node } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { NodeChange } from '../../../../reconcile/nodes/change-node.ts';
import { readNode, writeNode, writePolicy } from '../../../../reconcile/nodes/requests/objects.ts';
import type { Sim } from '../../../../reconcile/nodes/sim-host.ts';
import type { Difference } from '../contract.ts';
import { type NodeContracts, othersAct } from './contract.ts';
import type { NodesScene } from './scene.ts';

const versions: Difference = {
  because: 'the API server counts versions, and notes who wrote what',
  not: ['answer.metadata.resourceVersion', 'answer.metadata.managedFields'],
};

function* emptied({ seen: { policy } }: Sim) {
  const { observedGeneration = 1, ...status } = policy.status ?? {};
  yield* othersAct();
  return yield* writePolicy({ policy: { ...policy, status: { ...status, observedGeneration, grants: [] } } });
}

function written(change: NodeChange) {
  return function* (_: Sim, { node: name }: NodesScene) {
    yield* othersAct();
    return yield* writeNode({ name, change });
  };
}

async function cordoned({ kube, node }: NodesScene): Promise<void> {
  const found = await kube.get<Node>(resources.nodes, undefined, node);
  if (found) await kube.update<Node>(resources.nodes, { ...found, spec: { ...found.spec, unschedulable: true } });
}

const begins: NodeChange = { granted: 'grant', cordoned: 'by-us', cordon: true };

export const objects = {
  writePolicy: [
    { when: 'it is as it was observed', asks: emptied, differs: versions },
    {
      when: 'others wrote to it',
      others: [{ does: 'writes to', object: 'policy', name: 'policy' }],
      asks: emptied,
      refused: 'precondition Conflict',
    },
  ],
  writeNode: [
    { when: 'it is marked, and takes no pods from now on', asks: written(begins) },
    {
      when: 'it takes pods again, as it did not',
      start: cordoned,
      asks: written({ returned: 'boot-2', uncordon: true }),
    },
    { when: 'it was cordoned by a person', start: cordoned, asks: written({ granted: 'grant', cordoned: 'before' }) },
    {
      when: 'its wish is fulfilled, and a mark goes',
      asks: written({ now: undefined, done: 'grant', fulfilled: true }),
    },
    {
      when: 'others wrote to it',
      others: [{ does: 'writes to', object: 'node', name: 'node' }],
      asks: written(begins),
      refused: 'precondition Conflict',
    },
    {
      when: 'it was not there when it was looked at',
      asks: () => writeNode({ name: 'contract-no-such-node', change: begins }),
      refused: 'precondition WorldMoved',
    },
  ],
  readNode: [
    { when: 'it is there', asks: (_, { node: name }) => readNode({ name }) },
    { when: 'it is cordoned', start: cordoned, asks: (_, { node: name }) => readNode({ name }) },
    { when: 'there is none', asks: () => readNode({ name: 'contract-no-such-node' }) },
  ],
} as const satisfies Readonly<Record<string, NodeContracts>>;
