import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { assertForetold } from '../../e2e/support/foretold.ts';

const steps = [
  { action: 'prepare-members', target: 'a-1', reason: 'PreparingMember' },
  { action: 'seal-members', target: 'a-1', reason: 'SealingMembers' },
] as const;
const [prepare, seal] = steps;
const refused = { ...prepare, reason: 'UnhealthyCluster', outcome: 'failed' } as const;
const added = { action: 'add-learner', target: 'a-1', reason: 'AddingLearner' } as const;

const promote = { action: 'promote-learner', target: 'a-1', reason: 'PromotingLearner' } as const;

const lost = { ...prepare, reason: 'NameTaken', outcome: 'failed' } as const;

const restarts = ['a-0', 'a-1', 'a-2'].map((target) => ({ ...added, action: 'change-template', target }));

type Entry = Pick<ClusterHistoryEntry, 'action' | 'target' | 'reason'> & { readonly outcome?: 'failed' };

function told(entries: readonly Entry[], foretold: readonly Entry[] = steps): string {
  const history = entries.map((entry) => ({ outcome: 'acted', ...entry, generation: 1, at: '', message: '' }));
  const cluster = { metadata: { name: 'a', generation: 1 }, status: { history } } as unknown as EtcdCluster;
  return assertForetold({ steps: foretold, summary: '+1 member', end: 'done' } as never, cluster);
}

describe('what happened is held against what was foretold', () => {
  for (const [what, entries] of [
    ['the same steps', [prepare, seal]],
    ['etcd refused one half-way, and another step finished it', [refused, added, seal]],
    ['that was refused, too', [refused, { ...added, reason: 'UnhealthyCluster', outcome: 'failed' }, added, seal]],
    ['it was refused before it had begun, and taken again', [refused, prepare, seal]],
    ['a learner was promoted by a step of its own once it was sealed', [prepare, seal, promote]],
  ] as const) {
    test(`accepted: ${what}`, () => assert.match(told(entries), /^as foretold/));
  }
  for (const [what, entries] of [
    ['a step is missing', [prepare]],
    ['another learner was promoted than was sealed', [prepare, seal, { ...promote, target: 'a-2' }]],
    ['a learner was promoted before it was sealed', [prepare, promote, seal]],
    ['a step more', [prepare, added, seal]],
    ['another order', [seal, prepare]],
    ['more steps besides than were refused', [refused, added, { ...added, target: 'a-2' }, seal]],
    ['a step that waited for a person was made up for', [lost, added, seal]],
    ['what was refused was never finished', [prepare, { ...seal, target: 'a-2', outcome: 'failed' }]],
  ] as const) {
    test(`refused: ${what}`, () => assert.throws(() => told(entries), assert.AssertionError));
  }

  test('certificates are handed over as an issuer signs them, in any order, and all of them', () => {
    const hand = (target: string) => ({ action: 'hand-over-certificates', target, reason: 'RenewingCertificates' });
    const whole = [prepare, hand('b-tls, c-tls, a-tls'), seal];
    assert.match(told([prepare, hand('c-tls'), hand('b-tls, a-tls'), seal], whole), /^as foretold/);
    assert.throws(() => told([prepare, hand('c-tls'), hand('b-tls'), seal], whole), assert.AssertionError);
    assert.throws(() => told([hand('c-tls'), prepare, hand('b-tls, a-tls'), seal], whole), assert.AssertionError);
  });

  test('restarts that follow each other for one reason may change places, as leaders do', () => {
    const [first, second, third] = restarts;
    assert.ok(first && second && third);
    assert.match(told([prepare, third, first, second, seal], [prepare, ...restarts, seal]), /^as foretold/);
    assert.throws(() => told([prepare, first, second, seal], [prepare, ...restarts, seal]), assert.AssertionError);
    assert.throws(() => told([first, prepare, second, third], [prepare, ...restarts]), assert.AssertionError);
    const otherReason = { ...third, reason: 'RestartingMember' };
    assert.throws(() => told([otherReason, first, second], [first, second, otherReason]), assert.AssertionError);
  });

  test('leaves of a restored member may be issued while its Job runs, and not before', () => {
    const [restore, conclude, issue] = [
      { action: 'restore-snapshot', target: 'a-3', reason: 'RestoringSnapshot' },
      { action: 'conclude-restore', target: 'a-3', reason: 'ConcludingRestore' },
      { action: 'issue-certificates', target: 'a-3-peer-tls', reason: 'IssuingCertificates' },
    ] as const;
    const foretold = [restore, conclude, issue, seal];
    assert.match(told([restore, issue, conclude, seal], foretold), /^as foretold/);
    for (const other of [
      [issue, restore, conclude, seal],
      [restore, conclude, seal, issue],
      [restore, issue, seal],
    ])
      assert.throws(() => told(other, foretold), assert.AssertionError);
  });

  test('a restart that failed for a passing cause, in any place, is finished by another step', () => {
    const [first, second, third] = restarts;
    assert.ok(first && second && third);
    const failed = { ...first, reason: 'EtcdDidNotAnswer', outcome: 'failed' } as const;
    const finished = { action: 'restart-member', target: 'a-0', reason: 'FinishingRolling' } as const;
    for (const entries of [
      [failed, finished, second, third],
      [second, third, failed, finished],
      [third, failed, finished, second],
      [third, failed, first, second],
    ])
      assert.match(told(entries, restarts), /^as foretold but for 1 /);
    for (const entries of [
      [second, failed, finished],
      [second, third, failed, finished, { ...finished, target: 'a-1' }],
      [finished, second, third, failed],
    ])
      assert.throws(() => told(entries, restarts), assert.AssertionError);
  });

  test('members whose sealing was refused once are sealed by the next step', () => {
    const both = { ...seal, target: 'a-1, a-2' };
    const failed = { ...both, reason: 'Conflict', outcome: 'failed' } as const;
    assert.match(told([prepare, failed, seal, { ...seal, target: 'a-2' }], [prepare, both]), /^as foretold but/);
    assert.throws(() => told([prepare, failed, seal], [prepare, both]), assert.AssertionError);
  });
});
