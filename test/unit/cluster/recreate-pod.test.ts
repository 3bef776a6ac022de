import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { probes } from '../../../manifests/render/probes.ts';
import { act } from '../../../reconcile/cluster/act/act.ts';
import type { ActContext } from '../../../reconcile/cluster/act/actions/context.ts';
import { unstickPod as rule } from '../../../reconcile/cluster/decide/rules/membership/unstick-pod.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { podView } from '../../../reconcile/cluster/observe/slots.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../support/world/converge.ts';
import { createWorld, namespace } from '../../support/world/world.ts';
import {
  all,
  endpoint,
  healthy,
  silent,
  withContainer,
  withEndpoint,
  withInputs,
  withPod,
  withRecord,
} from './observations.ts';

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
        members: [{ name: 'orders-1', id: 'a1', role: 'Voter', healthy: false, unhealthySince } as const],
      };
      const observation = healthy(3, { spec: { version }, slots: { 1: hanging, 2: other }, status });
      assert.equal(rule(situate({ ...observation, clusterVersion }))?.reason, reason);
    });
  }
});

describe('a large database that is read before etcd answers', () => {
  const startup = 600_000;
  const since = (seconds: number) => new Date(Date.parse('2026-01-02T03:04:05Z') - seconds * 1000);
  const status = (seconds: number) => ({
    observedGeneration: 1,
    members: [
      {
        name: 'orders-1',
        id: 'a1',
        role: 'Voter',
        healthy: false,
        unhealthySince: since(seconds).toISOString(),
      } as const,
    ],
  });

  for (const [what, runs, startupMs, reason] of [
    ['has its startup probe’s time, and the grace on top', 719, startup, undefined],
    ['has no more than that', 720, startup, 'RecreatingPod'],
    ['has the time that podTemplate gives it', 1919, 1_800_000, undefined],
    ['has the grace alone without a startup probe', 120, undefined, 'RecreatingPod'],
  ] as const) {
    test(what, () => {
      const container = { state: 'running', startedAt: since(runs), ...(startupMs && { startupMs }) } as const;
      const loading = all(withPod({ ready: false }), withContainer(container), withEndpoint(silent));
      const observation = healthy(3, { slots: { 1: loading }, status: status(3600) });
      assert.equal(rule(situate(observation))?.reason, reason);
    });
  }

  test('has no time while its container does not run', () => {
    const creating = {
      state: 'waiting',
      reason: 'ContainerCreating',
      startupMs: startup,
      startedAt: since(1),
    } as const;
    const hanging = all(withPod({ ready: false }), withContainer(creating), withEndpoint(silent));
    assert.equal(rule(situate(healthy(3, { slots: { 1: hanging }, status: status(120) })))?.reason, 'RecreatingPod');
  });

  for (const [startupProbe, expected] of [
    [probes().startupProbe, 600_000],
    [{ failureThreshold: 90, periodSeconds: 20, initialDelaySeconds: 60 }, 1_860_000],
    [{}, 30_000],
    [undefined, undefined],
  ] as const) {
    test(`is given ${expected} ms by ${JSON.stringify(startupProbe)}`, () => {
      const containers = [{ name: 'beside' }, { name: 'etcd', ...(startupProbe && { startupProbe }) }];
      const { container } = podView({ metadata: { name: 'orders-0-0' }, spec: { containers } }, undefined);
      assert.equal(container.startupMs, expected);
    });
  }

  test('is started once at a roll, and again only when its time is over', async () => {
    const world = createWorld();
    await world.apply({ version: '3.6.16' });
    await tickUntilConverged(world);
    const [pod] = world.kube.stored<Pod>(resources.pods).filter(({ metadata }) => metadata.name === 'orders-1-0');
    world.holdUp(({ metadata }) => (metadata.uid === pod?.metadata.uid ? 'Loading' : undefined));
    world.kill('orders-1-0');
    const began = world.now();
    while (world.now() < began + 719_000) {
      world.settle();
      const result = await world.tick();
      assert.equal(result?.decision.reason, 'MemberStarting', `after ${(world.now() - began) / 1000} s`);
      assert.match(result?.decision.message ?? '', /its startup probe gives it 10m/);
      world.advance(20);
    }
    const { kind, trail } = await tickUntilConverged(world);
    assert.equal(kind, 'done', trail.join('\n'));
    assert.equal(trail.filter((line) => line === 'act RecreatingPod acted').length, 1, trail.join('\n'));
  });
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
      world.holdUp(({ metadata }) => (metadata.uid === pod.metadata.uid ? 'Loading' : undefined));
      world.kill('orders-1-0');
      world.kube.seed(resources.pods, { ...pod, status: { ...pod.status, conditions: [] } } as Pod);
      world.kube.seed(resources.peers, { ...peer, spec: { ...peer.spec, version } });
      const context: ActContext = {
        kube: world.kube,
        cluster,
        etcd: { endpoints: new Map(), connect: () => assert.fail('nobody is asked') },
        signal: AbortSignal.timeout(60_000),
      };
      const acted = act({ kind: 'recreate-pod', pod: { name: 'orders-1', uid: pod.metadata.uid ?? '' } }, context);
      if (expected === 'stays')
        await assert.rejects(acted, /orders-1 has run etcd 3\.6\.16, and may not go back to 3\.5\.35/);
      else await acted;
      const after = await world.kube.get<Pod>(resources.pods, namespace, 'orders-1-0');
      const isGone = after === undefined || after.metadata.deletionTimestamp !== undefined;
      assert.equal(isGone, expected === 'gone', version);
    }
  });
});
