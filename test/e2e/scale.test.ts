import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isConverged, isReady } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { readKey } from './support/keys.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { makeLeader } from './support/lead.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ clearedBetween: true });

async function namesOf(resource: typeof resources.peers | typeof resources.volumeClaims, name: string) {
  const found = await stage().list<EtcdPeer | PersistentVolumeClaim>(resource);
  return found
    .map(({ metadata }) => metadata.name)
    .filter((one) => one.startsWith(`${name}-`))
    .toSorted();
}

function names(name: string, ...ordinals: readonly number[]): readonly string[] {
  return ordinals.map((ordinal) => `${name}-${ordinal}`);
}

test('commits make 1 member 3, 5, 3 and 1: no write is lost, and a leader hands over first', async (t) => {
  const { tickUntil, kube, namespace } = stage();
  const name = 'sized';
  await stage().pushCluster(name, { replicas: 1 });
  await tickUntil(name, isConverged);
  const writer = await startKnowingWriter(kube, { namespace, name }, 'scaling');
  await until('fifty writes', async () => writer.acknowledged >= 50);

  for (const replicas of [3, 5, 3, 1]) {
    // Who goes first is the one with the highest number.
    const size = (await tickUntil(name, isConverged)).status?.members?.length ?? 0;
    if (replicas < size) await makeLeader(stage(), name, `${name}-${size - 1}`);
    writer.longestGap();
    const startedAt = performance.now();
    await stage().pushCluster(name, { replicas });
    const foretold = await foretell(stage(), name);
    const cluster = await tickUntil(name, (found) => isConverged(found) && found.spec.replicas === replicas, 180);
    t.diagnostic(assertForetold(foretold, cluster));
    const seconds = (performance.now() - startedAt) / 1000;
    const gap = writer.longestGap();
    t.diagnostic(`to ${replicas}: ${seconds.toFixed(1)} s, longest gap ${gap.toFixed(0)} ms`);
    assert.ok(gap < longestGapAllowed, `to ${replicas}: a gap of ${gap.toFixed(0)} ms`);
    const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
    assert.deepEqual(await namesOf(resources.peers, name), names(name, ...ordinals));
    assert.deepEqual(
      cluster.status?.members?.map((member) => [member.name, member.role, member.healthy]),
      names(name, ...ordinals).map((member) => [member, 'Voter', true]),
    );
    await until('the volumes of members that left are gone', async () => {
      const left = await namesOf(resources.volumeClaims, name);
      return left.length === replicas;
    });
  }
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  t.diagnostic(`longest gap of all ${longestGap.toFixed(0)} ms over ${acknowledged} writes`);
  assert.ok(longestGap < longestGapAllowed, `a gap of ${longestGap.toFixed(0)} ms`);
});

test('no members: all stop, the commit succeeds; later they come back with every write', async (t) => {
  const { tickUntil, access, list, cluster, forge } = stage();
  const name = 'sleeper';
  await stage().pushCluster(name, { replicas: 3 });
  await tickUntil(name, isConverged, 90);
  const writer = startWriter(await access(name), 'asleep');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  const { clusterID } = (await cluster(name)).status ?? {};

  const sha = await stage().push({ [`clusters/${name}.yaml`]: clusterYaml(name, stage().namespace, { replicas: 0 }) });
  const toSleep = await foretell(stage(), name);
  const asleep = await tickUntil(
    name,
    (found) => isReady(found) && found.status?.lastDecision?.reason === 'Hibernating',
    90,
  );
  t.diagnostic(assertForetold(toSleep, asleep));
  await until('their pods are gone', async () => {
    return !(await list<Pod>(resources.pods)).some(({ metadata }) => metadata.name.startsWith(`${name}-`));
  });
  assert.equal((await namesOf(resources.volumeClaims, name)).length, 3);
  await stage().ticksUntil('a success', () => {
    return forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success';
  });

  await stage().pushCluster(name, { replicas: 3 });
  const toWake = await foretell(stage(), name);
  const awake = await tickUntil(name, (found) => isConverged(found) && found.spec.replicas === 3, 90);
  t.diagnostic(assertForetold(toWake, awake));
  assert.equal(awake.status?.clusterID, clusterID);
  for (const number of [0, Math.floor(acknowledged / 2), acknowledged - 1]) {
    assert.equal(await readKey(await access(name), `asleep/${number}`), `value of asleep/${number}`);
  }
});

test('a cluster that Git does not own follows kubectl scale', async () => {
  const { kubectl, namespace, tickUntil } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('byhand', namespace, { replicas: 1 }) });
  await tickUntil('byhand', isConverged, 90);
  await kubectl(['-n', namespace, 'scale', 'etcdcluster', 'byhand', '--replicas=2']);
  const cluster = await tickUntil('byhand', (found) => isConverged(found) && found.status?.readyReplicas === 2, 90);
  assert.equal(cluster.status?.replicas, 2, 'what kubectl get and the scale subresource show');
});
