import type { EtcdNodePolicySpec } from '../../../manifests/api/etcd-node-policy.ts';
import type { Left, ModelCluster, ModelMember, ModelNode, ModelPod, NodesWorld } from './state.ts';

/** A few nodes, what is on them, and what may go wrong while they reboot. */
export interface NodesScenario {
  readonly name: string;
  readonly world: () => NodesWorld;
  readonly faults: Left['faults'];
  /** How many of them together. */
  readonly atMost: number;
}

interface Stage {
  /** Which nodes need a reboot, of node-1, node-2, … */
  readonly needs: readonly number[];
  readonly nodes?: number;
  /** A cluster by the nodes of its members. */
  readonly clusters: Readonly<Record<string, readonly number[]>>;
  readonly spec?: Partial<EtcdNodePolicySpec>;
  /** Clusters whose members run an older template. */
  readonly old?: readonly string[];
  /** Clusters that are to be smaller. */
  readonly wanted?: Readonly<Record<string, number>>;
  readonly pods?: readonly ModelPod[];
}

export function staged({ needs, nodes = 3, clusters, spec = {}, old = [], wanted = {}, pods = [] }: Stage): NodesWorld {
  return {
    policy: { spec: { nodeSelector: {}, maxUnavailable: 2, ...spec }, grants: [], kept: [] },
    nodes: Array.from({ length: nodes }, (_, index): ModelNode => {
      const isNeeding = needs.includes(index + 1);
      const node = { name: `node-${index + 1}`, boot: 0, up: true, cordoned: false, marks: {} };
      return { ...node, ...(isNeeding && { needed: 'kernel' }) };
    }),
    clusters: Object.entries(clusters).map(([name, homes]): ModelCluster => {
      const members = homes.map((home, index): ModelMember => {
        const member = { name: `${name}-${index}`, node: `node-${home}`, pod: 'up', turn: 0 } as const;
        return { ...member, ...(old.includes(name) && { old: true }) };
      });
      return { key: `shop/${name}`, members, leader: `${name}-0`, wanted: wanted[name] ?? homes.length };
    }),
    jobs: [],
    pods,
  };
}

function one(name: string, stage: Stage, faults: Left['faults'] = {}, atMost = 1): NodesScenario {
  return { name: `reboots: ${name}`, world: () => staged(stage), faults, atMost };
}

const three = { orders: [1, 2, 3] } as const;

export const nodesScenarios: readonly NodesScenario[] = [
  one('one of three', { needs: [1], clusters: three }, { death: 2, second: 1, agent: 1, time: 1 }, 2),
  one('two of three', { needs: [1, 2], clusters: three }, { death: 1, crash: 1 }, 1),
  one('two clusters', { needs: [1, 2], clusters: { orders: [1, 2, 3], carts: [2, 3, 1] } }, { death: 1 }, 1),
  one(
    'two that meet nowhere',
    { needs: [1, 2], nodes: 4, clusters: { orders: [1], carts: [2] }, spec: { allowDowntimeOf: ['shop/orders'] } },
    { death: 1, second: 1 },
    2,
  ),
  one(
    'two members of one cluster',
    { needs: [1, 2], nodes: 2, clusters: { orders: [1, 1, 2] } },
    { death: 1, second: 1 },
    1,
  ),
  one('two controllers at once', { needs: [1, 2], clusters: three }, { second: 2, death: 1 }, 2),
  one('a person is at it', { needs: [1, 2], clusters: three }, { uncordon: 1, cordon: 1, withdraw: 1, stranger: 1 }, 2),
  one(
    'hosts and agents fail',
    { needs: [1, 2], clusters: three },
    { deaf: 1, agent: 1, broken: 1, reset: 1, time: 1 },
    2,
  ),
  one('while members are rolled', { needs: [1], clusters: three, old: ['orders'] }, { death: 1, second: 1 }, 1),
  one('while it shrinks', { needs: [1, 2], clusters: three, wanted: { orders: 1 } }, { second: 1, death: 1 }, 1),
  one(
    'a budget refuses',
    {
      needs: [1, 2],
      nodes: 2,
      clusters: {},
      pods: [
        { name: 'web', node: 'node-1', turn: 0, keeps: true },
        { name: 'api', node: 'node-2', turn: 0 },
      ],
    },
    { time: 1, uncordon: 1 },
    2,
  ),
  one('members crash', { needs: [1, 2], clusters: three }, { crash: 2, time: 1 }, 2),
];
