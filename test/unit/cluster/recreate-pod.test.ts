import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import type { ActContext } from '../../../reconcile/cluster/actions/context.ts';
import { recreatePod } from '../../../reconcile/cluster/actions/recreate-pod.ts';
import { situate } from '../../../reconcile/cluster/decide.ts';
import { recreatePod as rule } from '../../../reconcile/cluster/rules/recreate-pod.ts';
import { resources } from '../../../reconcile/kube.ts';
import { tickUntilConverged } from '../../world/converge.ts';
import { createWorld, namespace } from '../../world/world.ts';
import { all, endpoint, healthy, silent, withEndpoint, withInputs, withPod, withRecord } from './observations.ts';

const unhealthySince = '2026-01-02T03:00:00Z';

/** It has never run another minor. */
const below = all(
  withRecord({ version: '3.5.35' }),
  withInputs({ version: '3.5.35' }),
  withPod({ version: '3.5.35' }),
  withEndpoint(endpoint(2, { version: '3.5.35' })),
);

describe('a pod that hangs is made anew', () => {
  for (const [what, version, clusterVersion, other, reason] of [
    ['on the version that it ran', '3.6.16', '3.6.0', all(), 'RecreatingPod'],
    ['on a lower minor, while another member never left that', '3.5.35', '3.5.0', below, 'RecreatingPod'],
    ['but not on a lower minor than all have run (I6)', '3.5.35', '3.6.0', all(), undefined],
  ] as const) {
    test(what, () => {
      const hanging = all(withPod({ ready: false, version: '3.6.16' }), withEndpoint(silent), withInputs({ version }));
      const status = {
        observedGeneration: 1,
        members: [{ name: 'orders-1', id: 'a1', role: 'voter', healthy: false, unhealthySince } as const],
      };
      const observation = healthy(3, { spec: { version }, slots: { 1: hanging, 2: other }, status });
      assert.equal(rule(situate({ ...observation, clusterVersion }))?.reason, reason);
    });
  }
});

describe('just before a pod that hangs goes', () => {
  test('what it would come back on is looked at again', async () => {
    for (const [version, expected] of [
      ['3.6.16', 'gone'],
      ['3.5.35', 'stays'],
    ] as const) {
      const world = createWorld();
      await world.apply({ version: '3.6.16' });
      await tickUntilConverged(world);
      const [pod, peer] = await Promise.all([
        world.kube.get<Pod>(resources.pods, namespace, 'orders-1-0'),
        world.kube.get<EtcdPeer>(resources.peers, namespace, 'orders-1'),
      ]);
      const cluster = world.cluster();
      if (!pod || !peer || !cluster) return assert.fail();
      world.kube.seed(resources.pods, { ...pod, status: { ...pod.status, conditions: [] } } as Pod);
      world.kube.seed(resources.peers, { ...peer, spec: { ...peer.spec, version } });
      const context: ActContext = {
        kube: world.kube,
        cluster,
        etcd: { endpoints: new Map(), connect: () => assert.fail('nobody is asked') },
        signal: AbortSignal.timeout(60_000),
      };
      const acted = recreatePod(
        { kind: 'recreate-pod', pod: { name: 'orders-1', uid: pod.metadata.uid ?? '' } },
        context,
      );
      if (expected === 'stays')
        await assert.rejects(acted, /orders-1 has run etcd 3\.6\.16, and may not go back to 3\.5\.35/);
      else await acted;
      const after = await world.kube.get<Pod>(resources.pods, namespace, 'orders-1-0');
      const isGone = after === undefined || after.metadata.deletionTimestamp !== undefined;
      assert.equal(isGone, expected === 'gone', version);
    }
  });
});
