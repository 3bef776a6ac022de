import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isConverged, isStalledFor } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false });

const name = 'moved';

async function ofClass(storageClassName: string): Promise<void> {
  const { kubectl, namespace } = stage();
  const storage = { size: '1Gi', storageClassName };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, { storage }) });
}

function isRefused({ status, metadata }: EtcdCluster): boolean {
  const isSeen = status?.observedGeneration === metadata.generation && status?.readyReplicas === 3;
  return isSeen && status.replicas === 3 && isStalledFor('StorageClassRefused')({ status, metadata } as EtcdCluster);
}

test('another storage class is refused by name; the told cure moves members one by one', async () => {
  const { tickUntil, stepUntil, access, kubectl, cluster, list } = stage();
  await ofClass('standard');
  await tickUntil(name, isConverged, 90);
  const writer = startWriter(await access(name), 'moving');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  await ofClass('no-expansion');

  for (const member of ['moved-0', 'moved-1', 'moved-2']) {
    const { status } = await stepUntil(name, isRefused, 150);
    const [refusal] = status?.refusals ?? [];
    assert.equal(refusal?.field, 'spec.storage.storageClassName');
    const [, command = ''] = /one by one: kubectl (.* --wait=false)\./.exec(refusal?.message ?? '') ?? [];
    assert.match(command, new RegExp(` pvc ${member} `), refusal?.message);
    await kubectl(command.split(' '));
  }
  await stepUntil(name, (found) => isConverged(found) && found.status?.readyReplicas === 3, 150);
  await until('only claims of the new class are left', async () => {
    const claims = await list<PersistentVolumeClaim>(resources.volumeClaims);
    return claims.length === 3 && claims.every(({ spec }) => spec.storageClassName === 'no-expansion');
  });
  assert.equal((await cluster(name)).status?.refusals, undefined);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});
