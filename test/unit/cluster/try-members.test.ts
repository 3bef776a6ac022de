import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingOf } from '../../../reconcile/cluster/foresee/change.ts';
import { tryMembers } from '../../../reconcile/cluster/foresee/try-members.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';

const signal = AbortSignal.timeout(10_000);
const observation = nothingOf(
  {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', namespace: 'payments' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
  },
  { at: new Date(0), nonce: 'n' },
);

function refusing(status: number, message: string) {
  return createFakeKube({
    before: () => {
      throw new KubeError(message, { class: 'terminal', status, reason: 'Invalid' });
    },
  });
}

test('a new cluster is tried by one dry run of its first member, and nothing is left of it', async () => {
  const kube = createFakeKube();
  assert.equal(await tryMembers(observation, { kube, signal }), undefined);
  assert.deepEqual(
    kube.journal().map(({ key, dryRun }) => [key, dryRun]),
    [['POST statefulsets', true]],
  );
  assert.deepEqual(kube.stored(resources.statefulSets), []);
});

test('what the API server does not take is told at its field', async () => {
  const kube = refusing(422, 'spec.template.spec.nodeSelector: Invalid value: "a b"');
  assert.deepEqual(await tryMembers(observation, { kube, signal }), {
    field: 'spec.podTemplate.spec.nodeSelector',
    message: 'its pods are refused: spec.template.spec.nodeSelector: Invalid value: "a b"',
  });
});

test('an answer that says nothing about the template is no verdict', async () => {
  for (const status of [403, 404, 500]) {
    await assert.rejects(tryMembers(observation, { kube: refusing(status, 'no'), signal }), KubeError);
  }
});
