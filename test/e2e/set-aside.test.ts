import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isConverged, isStalledFor, isWhole } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ clearedBetween: true });

const healing = { podGracePeriod: '5s', memberGracePeriod: '25s' };

async function commit(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { pushCluster } = stage();
  await pushCluster(name, { healing, ...fields });
}

/** Its pod does not end, as on a node that is dead; until the end of the test. */
async function dieing(victim: string, then: () => Promise<void>): Promise<void> {
  const { kubectl, namespace } = stage();
  const finalizers = (list: string) => `{"metadata":{"finalizers":${list}}}`;
  await kubectl(['-n', namespace, 'patch', 'pod', `${victim}-0`, '-p', finalizers('["example.com/dead-node"]')]);
  try {
    await kubectl(['-n', namespace, 'delete', 'pod', `${victim}-0`, '--wait=false']);
    await then();
  } finally {
    await kubectl(['-n', namespace, 'patch', 'pod', `${victim}-0`, '-p', finalizers('null')]);
  }
}

function isHealedWithout(victim: string, { status }: EtcdCluster): boolean {
  const members = status?.members ?? [];
  const voters = members.filter(({ role, healthy, name }) => role === 'Voter' && healthy && name !== victim);
  return voters.length === 3 && members.length === 3;
}

function victimOf({ status, metadata }: EtcdCluster): string {
  return [0, 1, 2].map((ordinal) => `${metadata.name}-${ordinal}`).find((name) => name !== status?.leader) ?? '';
}

test('a growth that the storage class refuses: a dead member is healed, and git revert converges', async () => {
  const { tickUntil, access, list } = stage();
  const storage = { size: '1Gi', storageClassName: 'no-expansion' };
  await commit('full', { storage });
  const victim = victimOf(await tickUntil('full', isWhole, 90));
  const writer = startWriter(await access('full'), 'aside');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  await commit('full', { storage: { ...storage, size: '2Gi' } });
  await tickUntil('full', isStalledFor('VolumeCannotGrow'));

  await dieing(victim, async () => {
    const stalled = isStalledFor('VolumeCannotGrow');
    const healed = await tickUntil('full', (seen) => isHealedWithout(victim, seen) && stalled(seen), 150);
    assert.match(condition(healed, 'Stalled')?.message ?? '', /allowVolumeExpansion on StorageClass no-expansion/);
    const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
    assert.deepEqual(new Set(claims.map(({ spec }) => spec.resources.requests?.storage)), new Set(['1Gi']));

    await commit('full', { storage });
    const reverted = await tickUntil('full', isConverged);
    assert.equal(String(reverted.spec.storage.size), '1Gi', 'the API server takes the size of before');
    assert.equal(reverted.status?.setAside, undefined);
  });
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});
