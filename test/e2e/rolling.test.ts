import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { restartedIn } from './support/done.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { watchLeader } from './support/leader-last.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene();

async function podsOf(name: string): Promise<readonly Pod[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

/** Members that were restarted for the present spec. */
function restartedBySpec({ metadata, status }: EtcdCluster): readonly (string | undefined)[] {
  return restartedIn((status?.history ?? []).filter(({ generation }) => generation === metadata.generation));
}

const args = (pod: Pod) => pod.spec.containers.find(({ name }) => name === 'etcd')?.args ?? [];

test('a commit that changes options rolls one member at a time, leader last, loses no write', async (t) => {
  const { tickUntil, kube, namespace, cluster } = stage();
  await stage().pushCluster('rolled', {});
  await tickUntil('rolled', isReady);
  const old = await podsOf('rolled');
  const writer = await startKnowingWriter(kube, { namespace, name: 'rolled' }, 'rolling');
  await until('fifty writes', async () => writer.acknowledged >= 50);

  await stage().pushCluster('rolled', { etcd: { snapshotCount: 5000 } });
  const foretold = await foretell(stage(), 'rolled');
  const leaderLast = watchLeader(restartedBySpec);
  const after = await tickUntil('rolled', (found) => {
    leaderLast.look(found);
    return isReady(found) && found.spec.etcd?.snapshotCount === 5000;
  });
  t.diagnostic(assertForetold(foretold, after));
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  assert.ok(longestGap < longestGapAllowed, `a gap of ${longestGap.toFixed(0)} ms`);
  t.diagnostic(`longest gap ${longestGap.toFixed(0)} ms over ${acknowledged} writes`);

  const now = await podsOf('rolled');
  assert.equal(now.length, 3);
  assert.ok(now.every(({ metadata }) => !old.some((pod) => pod.metadata.uid === metadata.uid)));
  assert.ok(now.every((pod) => args(pod).includes('--snapshot-count=5000')));
  assert.equal(restartedBySpec(await cluster('rolled')).length, 3, 'each once');
  leaderLast.assert(3);
});

test('what needs no restart causes none', async () => {
  const { tickUntil } = stage();
  const old = (await podsOf('rolled')).map(({ metadata }) => metadata.uid);
  const fields = {
    etcd: { snapshotCount: 5000 },
    healing: { podGracePeriod: '3m' },
    tls: { certificateLifetime: '720h' },
  };
  await stage().pushCluster('rolled', fields);
  await tickUntil('rolled', (found) => isReady(found) && found.spec.healing?.podGracePeriod === '3m');
  assert.deepEqual(
    (await podsOf('rolled')).map(({ metadata }) => metadata.uid),
    old,
  );
});

test('outside of its windows a change waits and is planned; a window that is open lets it begin', async () => {
  const { tickUntil, tick } = stage();
  const old = (await podsOf('rolled')).map(({ metadata }) => metadata.uid);
  const change = { etcd: { snapshotCount: 5001 } };
  const never = { windows: [{ start: '0 0 29 2 *', duration: '10m', timeZone: 'Europe/Berlin' }] };
  await stage().pushCluster('rolled', { ...change, maintenance: never });
  const held = await tickUntil('rolled', ({ status }) => status?.lastDecision?.reason === 'OutsideWindows');
  assert.match(held.status?.lastDecision?.message ?? '', /: the next opens at 2028-02-28T23:00:00Z$/);
  assert.match((await tick('--plan')).stdout, /not before 2028-02-28T23:00:00Z: giving rolled-/);
  assert.deepEqual(
    (await podsOf('rolled')).map(({ metadata }) => metadata.uid),
    old,
  );
  const always = { windows: [{ start: '* * * * *', duration: '10m' }] };
  await stage().pushCluster('rolled', { ...change, maintenance: always });
  await tickUntil('rolled', (found) => isReady(found) && found.status?.lastDecision?.reason === 'Converged', 120);
  assert.ok((await podsOf('rolled')).every((pod) => args(pod).includes('--snapshot-count=5001')));
});

test('a bad commit stops at the first member that it broke, and reverting it cures that one', async () => {
  const { tickUntil, access } = stage();
  const good = { etcd: { snapshotCount: 5000 } };
  const bad = { etcd: { ...good.etcd, extraArgs: { 'no-such-flag': 'true' } } };
  const writer = startWriter(await access('rolled'), 'bad');
  await stage().pushCluster('rolled', bad);
  // Until its log is read, and until it has exited more than once, it is told in other words.
  const words = /it last logged: its usage, as for a flag that it does not know/;
  const isTold = isStalledFor('MemberKeepsExiting');
  const stuck = await tickUntil(
    'rolled',
    (found) => isTold(found) && words.test(condition(found, 'Stalled')?.message ?? ''),
    120,
  );
  assert.equal(condition(stuck, 'Available')?.status, 'True');
  const broken = (await podsOf('rolled')).filter((pod) => args(pod).some((arg) => arg.includes('no-such-flag')));
  assert.equal(broken.length, 1, 'one member has it');

  await stage().pushCluster('rolled', good);
  await tickUntil('rolled', (found) => isReady(found) && found.spec.etcd?.extraArgs === undefined, 120);
  assert.ok((await podsOf('rolled')).every((pod) => !args(pod).some((arg) => arg.includes('no-such-flag'))));
  const { acknowledged, lost } = await writer.finish();
  assert.ok(acknowledged > 50);
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});

test('of a fleet only as many clusters restart members at once as it allows', async () => {
  const { tick, list, namespace } = stage();
  const names = ['crowd-a', 'crowd-b', 'crowd-c'];
  const files = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      names.map((name) => [`clusters/${name}.yaml`, clusterYaml(name, namespace, { replicas: 1, ...fields })]),
    );
  await stage().push(files({}));
  const clusters = async () =>
    (await list<EtcdCluster>(resources.clusters)).filter(({ metadata }) => names.includes(metadata.name));
  await until(
    'all three',
    async () => {
      await tick('--wait=2');
      const found = await clusters();
      return found.length === 3 && found.every(isReady);
    },
    { within: 150 },
  );

  await stage().push(files({ etcd: { snapshotCount: 5000 } }));
  let waited = false;
  await until(
    'all three have it',
    async () => {
      await tick('--wait=2');
      const found = await clusters();
      const away = found.filter((cluster) => !isReady(cluster) && restartedBySpec(cluster).length > 0);
      assert.ok(
        away.length <= 1,
        away.map(({ metadata, status }) => `${metadata.name} ${status?.lastDecision?.reason}`).join(),
      );
      waited ||= found.some(({ status }) => status?.lastDecision?.reason === 'WaitingForRoom');
      return found.every((cluster) => isReady(cluster) && cluster.spec.etcd?.snapshotCount === 5000);
    },
    { within: 180 },
  );
  assert.ok(waited, 'somebody had to wait');
});
