import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetReports, keepReport } from '../../../functions/checks/keep-report.ts';
import { checkFleetLabel, checkName } from '../../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { reportWith } from './reports.ts';

const fleet: EtcdFleet = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdFleet',
  metadata: { name: 'production', namespace: 'platform', uid: 'fleet-uid' },
  spec: { git: { url: 'https://git.example.com/o/r.git', ref: 'main' } },
};
const report = reportWith();
const signal = AbortSignal.timeout(10_000);

function theirs(name: string): ConfigMap {
  const labels = { [checkFleetLabel]: 'production' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'platform', labels }, data: { a: 'b' } };
}

test('a ConfigMap of others that has the name of a report is left alone, and named', async () => {
  const kube = createFakeKube();
  const name = checkName('production', report.head);
  kube.seed(resources.configMaps, theirs(name));
  await assert.rejects(keepReport(kube, fleet, report, signal), { reason: 'NameTaken', message: new RegExp(name) });
  assert.deepEqual(kube.stored<ConfigMap>(resources.configMaps)[0]?.data, { a: 'b' });
});

test('what is forgotten is what the fleet kept, whatever labels others set', async () => {
  const kube = createFakeKube();
  kube.seed(resources.configMaps, theirs('theirs'));
  await keepReport(kube, fleet, report, signal);
  await keepReport(kube, fleet, report, signal);
  assert.equal(kube.stored(resources.configMaps).length, 2);
  await forgetReports(kube, fleet, () => false, signal);
  assert.deepEqual(
    kube.stored(resources.configMaps).map(({ metadata }) => metadata.name),
    ['theirs'],
  );
});
