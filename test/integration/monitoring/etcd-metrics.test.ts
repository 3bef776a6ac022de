import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../../../manifests/api/duration.ts';
import { latencies } from '../../../manifests/api/rollout.ts';
import { etcdMetrics } from '../../../manifests/monitoring/etcd-metrics.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startMembers } from '../clients/etcd-members.ts';
import { open, within } from '../clients/etcd-membership-asking.ts';
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

for (const version of etcdVersions)
  test(`etcd ${version} counts what halts a rollout, in every bound that a fleet may name`, async () => {
    await using cluster = await startMembers(etcd[version], 1);
    using asking = open();
    const { clientUrl } = cluster.members[0] ?? assert.fail();
    const counted = (ms?: number) =>
      asking.counters(clientUrl, { ...within(2_000), slow: ms === undefined ? {} : { fsyncMs: ms, commitMs: ms } });
    // Its publishing itself is a write.
    const isThere = async () => counted().catch(() => undefined);
    const { leaderChanges, failedProposals } = await until(
      'a write',
      async () => {
        const told = await isThere();
        return told && told.fsyncs > 0 && told.commits > 0 && told;
      },
      { within: 30 },
    );
    assert.deepEqual({ leaderChanges, failedProposals }, { leaderChanges: 1, failedProposals: 0 });
    const slow = [];
    for (const bound of latencies) slow.push((await counted(parseDuration(bound))).slowFsyncs);
    assert.equal(slow.at(-1), 0, `none takes 8 s: ${slow.join(', ')}`);
  });
