import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allFailed, etcdError } from '../../../reconcile/clients/etcd-errors.ts';

for (const [words, outcome] of [
  ['14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 10.0.0.1:2379', 'down'],
  ['14 UNAVAILABLE: Name resolution failed for target dns:nowhere:2379', 'down'],
  ['connect EHOSTUNREACH 10.0.0.1:2379', 'down'],
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 2.0s', 'ambiguous'],
  ['1 CANCELLED: given up', 'ambiguous'],
  ['14 UNAVAILABLE: Connection dropped', 'ambiguous'],
  ['read ECONNRESET', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: request timed out', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: request timed out, possibly due to previous leader failure', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: leader changed', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: server stopped', 'ambiguous'],
  ['14 UNAVAILABLE: etcdserver: unhealthy cluster', 'refused'],
  ['9 FAILED_PRECONDITION: etcdserver: can only promote a learner member which is in sync with leader', 'refused'],
  ['14 UNAVAILABLE: etcdserver: rpc not supported for learner', 'refused'],
  ['something that nobody has seen before', 'ambiguous'],
] as const) {
  test(`"${words}" is ${outcome}`, () => {
    const error = etcdError('member list', 'http://a:2379', new Error(words));
    assert.equal(error.outcome, outcome);
    assert.ok(error.message.startsWith('member list at http://a:2379: '));
  });
}

for (const [outcomes, together] of [
  [['down', 'down'], 'down'],
  [['down', 'refused'], 'refused'],
  [['refused', 'ambiguous', 'down'], 'ambiguous'],
] as const) {
  test(`${outcomes.join(' and ')} together are ${together}, with every endpoint named`, () => {
    const said = { down: 'connect ECONNREFUSED', refused: 'etcdserver: no leader', ambiguous: 'read ECONNRESET' };
    const failures = outcomes.map((outcome, i) =>
      etcdError('member list', `http://e${i}:2379`, new Error(said[outcome])),
    );
    const error = allFailed('member list', failures);
    assert.equal(error.outcome, together);
    for (const i of outcomes.keys()) assert.ok(error.message.includes(`http://e${i}:2379`));
  });
}
