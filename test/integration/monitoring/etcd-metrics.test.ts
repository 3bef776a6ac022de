import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etcdMetrics } from '../../../manifests/monitoring/etcd-metrics.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { samplesIn } from './samples.ts';

const { etcd } = await provisionBinaries();

for (const version of etcdVersions)
  test(`etcd ${version} itself serves every metric that alerts and dashboards ask for`, async () => {
    // Two, for what is between members; and what is about the disk is there after the first write.
    await using cluster = await startMembers(etcd[version], 2);
    const { clientUrl } = cluster.members[0] ?? assert.fail();
    const wanted = Object.keys(etcdMetrics);
    let missing: readonly string[] = wanted;
    await until(
      'every metric',
      async () => {
        const text = await fetch(`${clientUrl}/metrics`).then((answer) => answer.text());
        const there = new Set(samplesIn(text).map(({ name }) => name));
        missing = wanted.filter((name) => !there.has(name));
        return missing.length === 0;
      },
      { within: 30, last: () => `missing: ${missing.join(', ')}` },
    );
    assert.deepEqual(missing, []);
  });
