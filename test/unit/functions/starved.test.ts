import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { areStarved } from '../../../functions/pass/one-pass.ts';
import { wait } from '../../../reconcile/cluster/know/decision.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { clusterOf } from '../fleet/objects.ts';

function resultOf(namespace: string, reason: 'Converged' | 'StepFailed' | 'NamespaceLeftOut'): ClusterResult {
  const decision = reason === 'Converged' ? ({ kind: 'done', reason, message: '' } as const) : wait(reason, '');
  const outcome = reason === 'Converged' ? 'none' : 'failed';
  return {
    namespace,
    name: 'orders',
    reason,
    message: '',
    decision,
    outcome,
    workRemains: reason !== 'Converged',
    cluster: clusterOf('orders'),
  };
}

describe('a pass whose time is over', () => {
  for (const [what, results, expected] of [
    ['let one namespace have it all', [resultOf('a', 'Converged'), resultOf('b', 'StepFailed')], true],
    ['got to nothing', [resultOf('a', 'StepFailed'), resultOf('b', 'StepFailed')], true],
    [
      'got to two namespaces',
      ['a', 'b'].map((one) => resultOf(one, 'Converged')).concat(resultOf('c', 'StepFailed')),
      false,
    ],
    ['had one namespace, and got to nothing', [resultOf('a', 'StepFailed')], false],
    ['had one namespace, and got to some of it', [resultOf('a', 'Converged'), resultOf('a', 'StepFailed')], false],
    ['got to all but one that is left out', [resultOf('a', 'Converged'), resultOf('left', 'NamespaceLeftOut')], false],
    ['has no cluster', [], false],
  ] as const)
    test(`${what}: ${expected ? 'it fails' : 'it was made'}`, () => {
      const leftOut = new Map([['left', { bytes: 2, plural: 'configmaps', mostBytes: 1 }]]);
      assert.equal(areStarved({ clusters: results, leftOut }), expected);
    });
});
