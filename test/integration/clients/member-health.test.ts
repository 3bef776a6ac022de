import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberHealth } from '../../../reconcile/clients/member-health.ts';
import { until } from '../../e2e/support/until.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers } from './etcd-members.ts';

const { etcd: binaries } = await provisionBinaries();

for (const version of etcdVersions)
  test(`etcd ${version} says that it is well with a quorum and no alarm, also with authentication`, async () => {
    await using cluster = await startMembers(binaries[version], 3);
    const [first = assert.fail(), second = assert.fail(), third = assert.fail()] = cluster.members;
    const say = (expected: readonly boolean[], what: string) =>
      until(what, async () => {
        const told = cluster.members.map(({ clientUrl }) =>
          memberHealth(new URL(clientUrl).hostname, AbortSignal.timeout(5_000)),
        );
        return String(await Promise.all(told)) === String(expected);
      });
    await say([true, true, true], 'all are well');

    const alarm = (action: string) =>
      post(first.clientUrl, '/v3/maintenance/alarm', { action, memberID: '0', alarm: 'NOSPACE' });
    await alarm('ACTIVATE');
    await say([false, false, false], 'none is, while an alarm is raised');
    await alarm('DEACTIVATE');
    await say([true, true, true], 'all are again');

    await post(first.clientUrl, '/v3/auth/user/add', { name: 'root', options: { noPassword: true } });
    await post(first.clientUrl, '/v3/auth/role/add', { name: 'root' });
    await post(first.clientUrl, '/v3/auth/user/grant', { user: 'root', role: 'root' });
    await post(first.clientUrl, '/v3/auth/enable', {});
    await say([true, true, true], 'they ask no user for it');

    await third.kill();
    await say([true, true, false], 'those are that have a quorum');
    await second.kill();
    await say([false, false, false], 'and none without');
  });
