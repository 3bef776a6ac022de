import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleetStatus, FleetRevisionEntry } from '../../../manifests/api/etcd-fleet-status.ts';
import type { Condition } from '../../../manifests/api/metadata.ts';
import { fleetNews } from '../../../reconcile/fleet/news.ts';

const at = '2026-11-23T12:00:00Z';

function status(
  revision: string,
  outcome: FleetRevisionEntry['outcome'],
  ...said: readonly Condition[]
): EtcdFleetStatus {
  return { observedGeneration: 1, history: [{ revision, outcome, at }], conditions: said };
}

function said(type: string, value: 'True' | 'False', reason: string, message = reason): Condition {
  return { type, status: value, reason, message, lastTransitionTime: at };
}

const ready = said('Ready', 'True', 'ClustersReady');
const refused = [said('Ready', 'False', 'DocumentsRefused'), said('Stalled', 'True', 'DocumentsRefused', 'a.yaml:1:1')];
const words = (before: EtcdFleetStatus | undefined, after: EtcdFleetStatus) =>
  fleetNews(before, after).map(({ type, reason }) => `${type} ${reason}`);

test('a commit that is applied and a fleet that becomes Ready are told, once', () => {
  const done = status('a', 'Applied', ready);
  assert.deepEqual(words(undefined, done), ['Normal Applied', 'Normal ClustersReady']);
  assert.deepEqual(words(done, done), []);
  assert.deepEqual(words(done, status('b', 'Applied', ready)), ['Normal Applied']);
  assert.deepEqual(words(status('b', 'Refused', ...refused), status('b', 'Applied', ready)), [
    'Normal Applied',
    'Normal ClustersReady',
  ]);
  assert.deepEqual(words(done, status('b', 'Retrying', said('Ready', 'False', 'ProgressingWithRetry'))), []);
});

test('what needs a person is told when it begins, and again for another commit', () => {
  const stuck = status('a', 'Refused', ...refused);
  assert.deepEqual(words(status('a', 'Applied', ready), stuck), ['Warning DocumentsRefused']);
  assert.equal(fleetNews(undefined, stuck)[0]?.note, 'a.yaml:1:1');
  assert.deepEqual(words(stuck, stuck), []);
  assert.deepEqual(words(stuck, status('b', 'Refused', ...refused)), ['Warning DocumentsRefused']);
  const other = said('Stalled', 'True', 'PruneNeedsConfirmation');
  assert.deepEqual(words(stuck, status('a', 'Refused', other)), ['Warning PruneNeedsConfirmation']);
});

test('a forge that is not told is told as long as it is news', () => {
  const told = status('a', 'Applied', ready, said('StatusesReported', 'True', 'Reported'));
  const silent = status('a', 'Applied', ready, said('StatusesReported', 'False', 'Unauthorized'));
  assert.deepEqual(words(told, silent), ['Warning Unauthorized']);
  assert.deepEqual(words(silent, silent), []);
  assert.deepEqual(words(silent, told), []);
});
