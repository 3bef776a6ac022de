import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterHistoryEntry } from '../../../manifests/api/etcd-cluster-status.ts';
import { doneIn, restartedIn } from '../../e2e/support/done.ts';

function entry(action: string, target: string, failure?: string): ClusterHistoryEntry {
  const [reason, outcome] = failure === undefined ? ['Testing', 'acted'] : [failure, 'failed'];
  return { at: '', action, target, reason, message: '', outcome };
}

const lost = entry('compact', 'a', 'EtcdDidNotAnswer');

test('a step that failed in passing counts once: where it was repeated, or else by itself', () => {
  const [compacted, defragmented] = [entry('compact', 'a'), entry('defragment-member', 'a-0')];
  assert.deepEqual(doneIn([lost, compacted, defragmented]), [compacted, defragmented]);
  assert.deepEqual(doneIn([lost, defragmented]), [lost, defragmented]);
  assert.deepEqual(doneIn([compacted, compacted]), [compacted, compacted], 'what was done twice');
  assert.deepEqual(doneIn([entry('compact', 'a', 'NameTaken')]), [], 'it waits for a person');
});

test('a restart that another step finishes is one, and a member that is restarted twice is two', () => {
  const rolled = ['a-1', 'a-0', 'a-2'].map((target) => entry('change-template', target));
  const [one, other, last] = rolled;
  assert.ok(one && other && last);
  const failed = entry('change-template', 'a-0', 'EtcdDidNotAnswer');
  const finished = entry('restart-member', 'a-0');
  assert.deepEqual(restartedIn([one, failed, lost, finished, last]), ['a-1', 'a-0', 'a-2']);
  assert.deepEqual(restartedIn([one, failed, last]), ['a-1', 'a-0', 'a-2']);
  assert.deepEqual(restartedIn([...rolled, finished]), ['a-1', 'a-0', 'a-2', 'a-0']);
});
