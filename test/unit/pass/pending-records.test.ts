import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsFrom } from '../../../functions/pass/pending-records.ts';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { FleetCommitStatus } from '../../../manifests/api/etcd-fleet-status.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { pendingRecord, pendingRecords } from '../../../reconcile/fleet/pending-record.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createLists } from '../../../reconcile/stepping/lists.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { fleetWith, revision, sha, treeOf } from '../fleet/objects.ts';

const home = 'etcd-ratchet';
const now = new Date('2026-11-23T12:00:00Z');
const pending = {
  sha,
  context: 'etcd-ratchet/production',
  state: 'pending',
  description: 'under way',
} as const satisfies FleetCommitStatus;

test('a fleet whose forge goes while a status is pending keeps no record of it', async () => {
  const kube = createFakeKube({ clock: () => now });
  const record = pendingRecord(fleetWith({ commitStatuses: [pending] }, { forge: true }), [pending], home);
  kube.seed<ConfigMap>(resources.configMaps, record ?? assert.fail());
  const fleet = fleetWith({ commitStatuses: [pending] });
  kube.seed<EtcdFleet>(resources.fleets, fleet);
  const signal = AbortSignal.timeout(10_000);
  const where = { namespace: home, labelSelector: labels.pendingStatuses, signal };
  const lists = createLists(new Map([[pendingRecords, () => kube.list<ConfigMap>(resources.configMaps, where)]]));
  const outcome = {
    reading: { kind: 'tree', revision, tree: treeOf([]) },
    ...{ problems: [], retries: [], inventory: [], pruned: [], applied: true, changed: new Set<string>() },
  } as const;
  await reportFleet({ fleet, outcome }, [], {
    ...{ kube, log: () => undefined, signal, forgeDeadline: Date.now(), always: true, fleets: [fleet] },
    records: recordsFrom(home, lists, true),
  });
  assert.deepEqual(kube.stored(resources.configMaps), []);
  assert.equal(kube.stored<EtcdFleet>(resources.fleets)[0]?.status?.commitStatuses, undefined);
});
