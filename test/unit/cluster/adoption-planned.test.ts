import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations } from '../../../manifests/render/names.ts';
import { plan } from '../../../reconcile/cluster/foresee/plan.ts';
import { approvalOfAdoption } from '../../../reconcile/cluster/know/adoption/inherited.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { before, existing } from './adoptions.ts';

describe('a plan of an adoption', () => {
  const start = before({ replicas: 3 });
  const withApproval = (value: string): Observation => {
    const metadata = { ...start.cluster.metadata, annotations: { [annotations.adopt]: value } };
    return { ...start, cluster: { ...start.cluster, metadata } };
  };
  const votersIn = ({ membership }: Observation) =>
    membership.kind === 'known' ? membership.members.filter(({ isLearner }) => !isLearner).map(({ name }) => name) : [];

  test('ends beside the others, with the approval that a person is asked for', () => {
    const { steps, end, outcome } = plan(start);
    assert.deepEqual([end.kind, end.reason], ['refused', 'AdoptionNotApproved']);
    assert.deepEqual(
      steps.filter(({ action }) => action === 'remove-inherited'),
      [],
    );
    assert.deepEqual(votersIn(outcome).toSorted(), ['old-0', 'old-1', 'old-2', 'orders-0', 'orders-1', 'orders-2']);
  });

  test('goes on where the approval is given: the others leave last, and no member restarts', () => {
    const { steps, end, outcome } = plan(withApproval(approvalOfAdoption(existing)));
    assert.deepEqual([end.kind, end.reason], ['done', 'Converged']);
    const removals = steps.filter(({ action }) => action === 'remove-inherited');
    const first = steps.findIndex(({ action }) => action === 'remove-inherited');
    const last = steps.findLastIndex(({ action }) => action === 'promote-learner');
    assert.ok(last < first, 'as many of ours vote before the first of them leaves');
    assert.deepEqual(removals, steps.slice(first, first + 3));
    assert.deepEqual(
      removals.map(({ target }) => target),
      ['old-0', 'old-1', 'old-2'],
      'the leader, old-2, last',
    );
    assert.equal(steps.filter(({ restarts }) => restarts).length, 0);
    assert.deepEqual(votersIn(outcome).toSorted(), ['orders-0', 'orders-1', 'orders-2']);
  });

  test('counts no approval of other members, or of another cluster', () => {
    for (const other of [
      { ...existing, memberIDs: ['ed0', 'ed1'] },
      { ...existing, clusterID: 'beef' },
    ])
      assert.equal(plan(withApproval(approvalOfAdoption(other))).end.reason, 'AdoptionNotApproved');
  });
});
