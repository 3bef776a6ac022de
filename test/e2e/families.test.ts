import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import type { Pod, Service } from '../../manifests/kube-types.ts';
import { urlOf } from '../../manifests/render/hosts.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Families } from '../support/cluster/families.ts';
import { isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { openScene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const binaries = await inOwnSandbox();

const cases: readonly { readonly where: string; readonly families: Families; readonly sizes: readonly number[] }[] = [
  { where: 'of IPv6 only', families: ['IPv6'], sizes: [2, 3] },
  { where: 'of both families, IPv4 first', families: ['IPv4', 'IPv6'], sizes: [3] },
];

// Three members with certificates: etcd looks up the name in each other member's, and wants the address that it sees
// among what it finds.
for (const { where, families, sizes } of cases) {
  test(`a cluster is born ${sizes.length > 1 ? 'and grows ' : ''}where pods have addresses ${where}`, async () => {
    await using _ = await startOwnCluster({ binaries, families });
    const stage = await openScene({ fleet: false });
    await using closing = new AsyncDisposableStack();
    closing.defer(() => stage.close());
    const { namespace, kubectl, tickUntil, list, get, access } = stage;
    for (const replicas of sizes) {
      await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('orders', namespace, { replicas }) });
      await tickUntil('orders', isWholeOf(replicas), 120);
    }
    const expected = families.map((family) => (family === 'IPv4' ? 4 : 6));
    const familiesOf = (addresses: readonly string[] = []) => addresses.map(isIP);

    for (const { status } of await list<Pod>(resources.pods)) {
      assert.deepEqual(familiesOf(status?.podIPs?.map(({ ip }) => ip)), expected);
    }
    const service = await get<Service>(resources.services, 'orders');
    assert.deepEqual(familiesOf(service?.spec.clusterIPs), expected, JSON.stringify(service?.spec));
    const way = await access('orders');
    for (const [index, address] of (service?.spec.clusterIPs ?? []).entries()) {
      const here = { ...way, url: urlOf('https', address, 2379) };
      await writeKey(here, `key-${index}`, address);
      assert.equal(await readKey(here, `key-${index}`), address);
    }
  });
}
