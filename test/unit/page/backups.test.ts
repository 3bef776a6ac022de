import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { clusters, fleets, plan } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';

const full = { fleets, clusters, plan: async () => plan } as const;
const path = '/clusters/payments/orders';

function backup(name: string, status: EtcdBackup['status'], clusterName = 'orders'): EtcdBackup {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, namespace: 'payments', uid: name, creationTimestamp: '2026-11-01T00:00:00Z' },
    spec: { clusterName, to: { object: 'gs://b/{{uid}}.db' } },
    ...(status && { status }),
  };
}

const ready = (status: 'True' | 'False', reason: string, message: string) => ({
  type: 'Ready',
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-01T00:00:00Z',
});

const good = backup('good', {
  observedGeneration: 1,
  object: 'gs://b/good.db',
  bytes: 5_500_000,
  revision: 81_724,
  takenAt: '2026-11-01T00:00:00Z',
  verified: { at: '2026-11-01T00:01:00Z', revision: 81_724, etcdVersion: '3.6.16', took: '1s' },
  conditions: [ready('True', 'Verified', 'well')],
});

test("a cluster's page shows its own backups, the newest first, and why one is not good", async () => {
  const { get, kube } = pages(full);
  const bad = backup('bad', {
    observedGeneration: 1,
    takenAt: '2026-11-02T00:00:00Z',
    conditions: [
      ready('False', 'Forbidden', 'the bucket <b>refuses</b>'),
      { ...ready('True', 'Forbidden', 'x'), type: 'Stalled' },
    ],
  });
  kube.seed(resources.backups, good, bad, backup('foreign', undefined, 'others'), backup('new', undefined));
  const text = await (await get(path)).text();
  assert.match(text, /81724/);
  assert.match(text, /gs:\/\/b\/good\.db/);
  assert.match(text, /the bucket &lt;b&gt;refuses&lt;\/b&gt;/);
  assert.doesNotMatch(text, /foreign/);
  assert.ok(text.indexOf('>bad<') < text.indexOf('>good<'), 'the newest first');
});

test('many backups are counted, not all shown', async () => {
  const { get, kube } = pages(full);
  kube.seed(resources.backups, ...Array.from({ length: 400 }, (_, index) => backup(`one-${index}`, undefined)));
  const text = await (await get(path)).text();
  assert.equal(text.match(/>one-\d+</g)?.length, 10);
  assert.match(text, /and 390 older ones/);
});

for (const [what, options] of [
  ['is not installed', { serves: ({ plural }: { plural: string }) => plural !== 'etcdbackups' }],
  ['may not be read', { authorize: ({ key }: { key: string }) => key !== 'LIST etcdbackups' }],
] as const) {
  test(`a page without backups is shown where the kind ${what}`, async () => {
    const { get } = pages({ ...full, ...options });
    const answer = await get(path);
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await answer.text(), />Backups</);
  });
}
