import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leadersToMove, notWhole, objectionOf, whileAway } from '../../../reconcile/nodes/etcd.ts';
import type { MemberSeen } from '../../../reconcile/nodes/observation.ts';
import { clusterOf, memberOf } from './seen.ts';

/** What a cluster can spare: only voters that serve count, whatever else runs (I1). */

const learner = (ordinal: number, changes: Partial<MemberSeen> = {}) =>
  memberOf(ordinal, { voter: false, leads: false, ...changes });
const reasonOf = (...cluster: Parameters<typeof clusterOf>) =>
  objectionOf(clusterOf(...cluster), 'node-1', { downtime: false, overruled: false })?.reason;

test('a step that is under way keeps a node also where its own member ails', () => {
  const members = [memberOf(0, { serves: false }), memberOf(1), memberOf(2)];
  const reasons = (['wait', 'act', 'held'] as const).map((kind) =>
    reasonOf({ members, busy: { kind, why: 'a step' } }),
  );
  assert.deepEqual(reasons, [undefined, 'ClusterBusy', 'ClusterBusy']);
});

test('a pod that is no voter stands for none, wherever it runs', () => {
  const here = [learner(0), memberOf(1), memberOf(2)];
  assert.equal(reasonOf({ members: here, voters: 3 }), 'MemberDown');
  const elsewhere = [memberOf(0), memberOf(1), memberOf(2), learner(3, { serves: false })];
  assert.equal(reasonOf({ members: elsewhere }), undefined, 'it is not missed either');
  const down = memberOf(1, { serves: false });
  assert.equal(
    whileAway(clusterOf({ members: [down, memberOf(2), learner(3)], voters: 3 }), 'node-1')?.reason,
    'MemberDown',
  );
});

test('a cluster is whole when each voter of its list serves, and no other pod counts', () => {
  const more = learner(3, { serves: false });
  assert.equal(notWhole(clusterOf({ members: [memberOf(0), memberOf(1), memberOf(2), more] })), undefined);
  const lacking = clusterOf({ members: [memberOf(0), memberOf(1), learner(2)], voters: 3 });
  assert.match(notWhole(lacking) ?? '', /a voter .* runs nowhere/);
});

test('leadership goes to a voter that serves and is known, on a node that is not under way', () => {
  const moves = (members: readonly MemberSeen[], ...leaving: readonly string[]) =>
    leadersToMove([clusterOf({ members })], 'node-1', new Set(['node-1', ...leaving])).map(({ name }) => name);
  const three = [memberOf(0), memberOf(1), memberOf(2)];
  assert.deepEqual([moves(three), moves(three, 'node-2')], [['orders-1'], ['orders-2']]);
  assert.deepEqual(moves(three, 'node-2', 'node-3'), []);
  for (const unable of [{ voter: false }, { serves: false }, { memberId: undefined as never }])
    assert.deepEqual(moves([memberOf(0), memberOf(1, { log: 200n, ...unable }), memberOf(2)]), ['orders-2']);
  const silent = { ...clusterOf(), clusterId: undefined as never };
  assert.deepEqual(leadersToMove([silent], 'node-1', new Set(['node-1'])), [], 'no quorum would follow');
});
