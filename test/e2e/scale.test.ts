import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConverged } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({ clearedBetween: true });

test('a cluster that Git does not own follows kubectl scale', async () => {
  const { kubectl, namespace, tickUntil } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('byhand', namespace, { replicas: 1 }) });
  await tickUntil('byhand', isConverged, 90);
  await kubectl(['-n', namespace, 'scale', 'etcdcluster', 'byhand', '--replicas=2']);
  const cluster = await tickUntil('byhand', (found) => isConverged(found) && found.status?.readyReplicas === 2, 90);
  assert.equal(cluster.status?.replicas, 2, 'what kubectl get and the scale subresource show');
});
