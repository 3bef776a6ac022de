import assert from 'node:assert/strict';
import { passFleet } from '../../../functions/pass/fleet-pass.ts';
import { reportFleet } from '../../../functions/pass/report-fleet.ts';
import { createReader } from '../../../functions/read/reader.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';

/** A pass of the first fleet, with its report; no step of a cluster is taken. */
export async function passOfFleet(kube: Kube): Promise<EtcdFleet> {
  using reader = createReader();
  const signal = AbortSignal.timeout(60_000);
  const context = { kube, reader, dryRun: false, followUp: false, log: () => {}, signal, gitMs: 30_000 };
  const fleets = (await kube.list<EtcdFleet>(resources.fleets, {})).items;
  const clusters = (await kube.list<EtcdCluster>(resources.clusters, {})).items;
  const [fleet] = fleets;
  assert.ok(fleet);
  const result = await passFleet(fleet, { fleets, clusters }, context);
  assert.ok(result.kind === 'done', result.kind);
  const told = { kube, log: () => {}, signal, forgeDeadline: Date.now() + 10_000, always: true, fleets };
  return reportFleet(result, clusters, told);
}
