import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { trustOf } from '../../reconcile/x509/secret-data.ts';
import { isConverged, isWholeOf } from './support/conditions.ts';
import { live, runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';

const stage = scene();
const name = 'trusted';

async function authority(): Promise<string> {
  const found = await stage().get<Secret>(resources.secrets, `${name}-client-ca`);
  const [only, ...more] = trustOf(found?.data ?? {});
  assert.ok(only !== undefined && more.length === 0, `${more.length} more`);
  return only;
}

test('a cluster gets new CAs, and grows and is upgraded under them', async (t) => {
  let first = '';
  const isRotated = ({ status }: EtcdCluster) =>
    (status?.history ?? []).some(({ reason }) => reason === 'RotatingAuthorities');
  await live(stage(), t, {
    name,
    born: { tls: { rotationOverlap: '1s' } },
    chapters: [
      {
        what: 'new CAs',
        happens: async () => {
          const { kubectl, namespace } = stage();
          first = await authority();
          const asked = 'etcd.ratchet.dev/rotate-certificates=first';
          await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, asked]);
        },
        until: (found) => isRotated(found) && isConverged(found),
        proves: async () => assert.notEqual(await authority(), first),
      },
      { what: 'to 5', spec: { replicas: 5 }, until: isWholeOf(5) },
      { what: 'to 3.7', spec: { version: '3.7.3' }, until: runsOn('3.7.3') },
      { what: 'to 3', spec: { replicas: 3 }, until: isWholeOf(3) },
    ],
  });
});
