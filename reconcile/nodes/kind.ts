import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import { resources } from '../interfaces/kube.ts';
import type { Kind } from '../stepping/kind.ts';
import { hasWork, keyOf } from '../stepping/result.ts';
import { wholeUnit } from '../stepping/shard.ts';
import { earliest } from '../time/later-look.ts';
import { nodePlans, policiesIn } from './asked.ts';
import { notLookedAt } from './reasons.ts';
import type { NodePolicyResult } from './step.ts';

/** Seconds between two looks, unless a step says less. */
const longestPause = 10;

/** What a pass must know of node policies; where they stand among the kinds, the table says. */
export const nodePolicyKind = {
  needs: ({ rebootsIn }) => rebootsIn !== undefined,
  lister:
    ({ kube, signal }) =>
    () =>
      kube.list<EtcdNodePolicy>(resources.nodePolicies, { signal }),
  // A node may hold members of any unit: one invocation sees to all.
  units: (policies) => policies.map(() => wholeUnit),
  // What a policy that is gone has left on nodes is taken away.
  stepsNone: true,
  async step(policies, context) {
    const { rebootsIn } = context;
    if (rebootsIn === undefined) return [];
    const { stepNodePolicies } = await import('./pass.ts');
    return stepNodePolicies(policies, { ...context, rebootsIn });
  },
  problem: notLookedAt,
  waits: {
    wakesOn(results) {
      const asked = results.filter(hasWork).map(({ afterSeconds = 0 }) => afterSeconds);
      const wakes = [{ on: 'time', afterSeconds: Math.min(longestPause, ...asked) }] as const;
      return results.filter(hasWork).map((result) => ({ key: keyOf(result), wakes }));
    },
    isAwaited: () => true,
    again: 'all',
  },
  // When a window opens for a node that waits.
  next: (results) => earliest(...results.map(({ nextAt }) => nextAt)),
  shown: { as: 'nodes', label: 'nodes', metric: 'node-policy', data: (result) => result },
  async plan(context, asked) {
    const [plans, { nodePlanLines }] = await Promise.all([
      nodePlans(context, asked.flatMap(policiesIn)),
      import('./plan-text.ts'),
    ]);
    return plans.map((data) => ({ data, ...nodePlanLines(data) }));
  },
} as const satisfies Omit<Kind<EtcdNodePolicy, NodePolicyResult>, 'scope' | 'after'>;
