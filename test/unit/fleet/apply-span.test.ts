import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { actOnFleet } from '../../../reconcile/fleet/act.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { recorded } from '../../../reconcile/stepping/traced.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { fleetWith, revision, specOf, treeOf } from './objects.ts';

test('a trace has a span for what a fleet applies, with its revision and outcome', async () => {
  const kube = createFakeKube();
  kube.seed(resources.fleets, fleetWith({}));
  const [fleet = assert.fail('no fleet')] = kube.stored<EtcdFleet>(resources.fleets);
  const reading = { kind: 'tree', revision, tree: treeOf([specOf('orders')]) } as const;
  const asked = { kube, signal: AbortSignal.timeout(20_000), log: () => undefined };
  await recorded(async (recording) => {
    await actOnFleet({ ...asked, fleet, fleets: [fleet], clusters: [], reading });
    const [span] = recording.spans.filter(({ name }) => name === 'apply');
    const { namespace, name } = fleet.metadata;
    assert.deepEqual(span?.facts, { fleet: `${namespace}/${name}`, revision, outcome: 'acted' });
    assert.ok((span?.ended ?? 0) >= (span?.begun ?? Number.POSITIVE_INFINITY));
  });
});
