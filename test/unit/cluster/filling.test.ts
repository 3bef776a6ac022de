import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotaBackendBytes } from '../../../manifests/render/quota.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { endpoint, healthy, withEndpoint } from './observations.ts';

const quota = quotaBackendBytes({ storage: { size: '1Gi' } });

/** The message of a cluster of three whose second member has filled so much of its quota, and said so before. */
function toldAt(percent: number, before?: number): string {
  const bytes = (share: number) => Math.ceil((quota * share) / 100);
  const members = before === undefined ? [] : [{ name: 'orders-1', healthy: true, dbInUseBytes: bytes(before) }];
  const seen = healthy(3, {
    slots: { 1: withEndpoint(endpoint(1, { dbSizeInUse: BigInt(bytes(percent)), dbSize: BigInt(bytes(percent)) })) },
  });
  const status = { observedGeneration: 1, ...seen.cluster.status, members };
  const { kind, message } = decide({ ...seen, cluster: { ...seen.cluster, status } });
  assert.equal(kind, 'done');
  return message;
}

test('a person is told which member has filled more than 80 or 90 percent of its quota', () => {
  assert.match(toldAt(79), /all healthy$/);
  assert.match(
    toldAt(81),
    /all healthy; orders-1 has filled more than 80 % of spec\.etcd\.quotaBackendBytes: at 100 % etcd takes no writes$/,
  );
  assert.match(toldAt(91), /more than 90 %/);
});

test('what moves about the threshold is told once, and not at every tick', () => {
  assert.match(toldAt(81, 78), /all healthy$/);
  assert.match(toldAt(78, 81), /more than 80 %/);
  assert.match(toldAt(70, 81), /all healthy$/);
});
