import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterConcerns, fillingConcern } from '../../../functions/page/attention.ts';
import { clusterTable } from '../../../functions/page/cluster-table.ts';
import { quotaOf } from '../../../functions/page/quota.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { cluster } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

/** A quota that fills is told wherever a person looks. */

function filled(percent: number, change: Partial<EtcdCluster['spec']> = {}): EtcdCluster {
  const made = cluster('payments/ledger');
  const spec = { ...made.spec, ...change };
  const bytes = Math.ceil(((quotaOf({ ...made, spec }) ?? 0) * percent) / 100);
  const members = (made.status?.members ?? []).map((member, at) => ({
    ...member,
    dbInUseBytes: at === 1 ? bytes : 1024,
  }));
  return { ...made, spec, ...(made.status && { status: { ...made.status, members } }) };
}

test('at 80 percent a person should know, at 90 one is needed, and below none', () => {
  assert.deepEqual(fillingConcern(filled(79)), []);
  const [known, needed] = [filled(81), filled(91)].map((one) => fillingConcern(one)[0]);
  assert.deepEqual([known?.tone, needed?.tone], ['busy', 'bad']);
  assert.match(known?.message ?? '', /^ledger-1 has filled more than 80 % of .*takes no writes\. To go on: delete/);
});

test('it is told of a cluster that is paused or goes on with something, too', () => {
  const reasons = (one: EtcdCluster) => clusterConcerns(one).map(({ reason }) => reason);
  assert.ok(reasons(filled(91)).includes('QuotaFills'));
  assert.ok(reasons(filled(91, { suspend: true })).includes('QuotaFills'));
  const rolls = filled(91);
  const conditions = [
    { type: 'Reconciling', status: 'True', reason: 'UpgradingMember', message: 'x', lastTransitionTime: '' },
  ] as const;
  assert.ok(reasons({ ...rolls, status: { ...rolls.status, conditions } } as EtcdCluster).includes('QuotaFills'));
});

test('tables of the page and of the plugin say it beside a state that is good', async () => {
  const html = String(clusterTable({ clusters: [filled(91)], root: '', now }));
  assert.match(html, /Ready<\/.*ledger-1 has filled more than 90 %/s);
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.clusters, filled(81));
  const { out } = await saidOn(kube, ['status', '-A']);
  assert.match(out, /ledger +Ready .*ledger-1 has filled more than/);
});
