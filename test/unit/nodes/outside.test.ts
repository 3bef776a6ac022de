import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { observeOutside } from '../../../reconcile/nodes/observe-outside.ts';
import { kuredLockAnnotation } from '../../../reconcile/nodes/outside.ts';
import { createFakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { policyOf } from './seen.ts';

/** What keeps nodes from beginning that is neither a node nor a cluster: what can not be read keeps them as well. */

function outside(spec: Parameters<typeof policyOf>[0], failure?: unknown) {
  const before = (_: FakeRequest) => {
    if (failure) throw failure;
  };
  const kube = createFakeKube({ before });
  const lock = JSON.stringify({ nodeID: 'node-9', created: '2026-11-23T11:30:00Z', TTL: 0 });
  const metadata = { namespace: 'kube-system', name: 'kured', annotations: { [kuredLockAnnotation]: lock } };
  kube.seed(resources.daemonSets, { metadata });
  const askAlerts = () => (failure === undefined ? Promise.resolve('nonsense') : Promise.reject(failure));
  return observeOutside(policyOf(spec).spec, { kube, askAlerts, signal: AbortSignal.timeout(10_000) });
}

test('only what the policy names is asked', async () => {
  assert.deepEqual(await outside({}), {});
  assert.deepEqual(await outside({ kured: {} }), { kuredLock: ['node-9'] });
  assert.deepEqual(await outside({ kured: { daemonSet: 'other' } }), { kuredLock: [] });
});

test('a Prometheus that can not be asked says why, with the cause of it', async () => {
  const blockedByAlerts = { url: 'http://prometheus' };
  const cause = new Error('getaddrinfo ENOTFOUND prometheus');
  for (const [failure, why] of [
    [new TypeError('fetch failed', { cause }), 'fetch failed: getaddrinfo ENOTFOUND prometheus'],
    [new Error('status 503'), 'status 503'],
    ['no error at all', 'no error at all'],
  ] as const)
    assert.deepEqual(await outside({ blockedByAlerts }, failure), { alerts: { kind: 'unreadable', why } });
});

test('a lock that can not be read is held, and a defect of ours is told as one', async () => {
  const forbidden = new KubeError('GET daemonsets: 403', { class: 'terminal', status: 403, reason: 'Forbidden' });
  assert.match((await outside({ kured: {} }, forbidden)).kuredLock?.join() ?? '', /^a node that is not known/);
  await assert.rejects(outside({ kured: {} }, new TypeError('a defect')), /a defect/);
});
