import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type GoClient, putCertificates, startGoClient } from '../consumers/go-client/program.ts';
import { tools } from '../support/cluster/tools.ts';
import { condition, isConverged, isReady, isWhole, isWholeOf } from './support/conditions.ts';
import { runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

/** etcd's own Go client, as most programs have it: writes, a watch from the first revision, and a lease. */
const binary = await tools.goClient.provide();
const stage = scene();
const name = 'orders';
const healing = { podGracePeriod: '5s', memberGracePeriod: '10s' };
/** In milliseconds, of any chapter. Its lease lives for 15 s. */
const longestGap = 10_000;

let client: GoClient;

async function push(fields: Readonly<Record<string, unknown>>): Promise<void> {
  await stage().pushCluster(name, { healing, tls: { mode: 'Managed', rotationOverlap: '10s' }, ...fields });
}

/** It writes, and its watch sees that. */
async function serves(what: string): Promise<void> {
  const { acknowledged, seen } = client.now();
  const goesOn = () => client.now().acknowledged >= acknowledged + 20 && client.now().seen >= seen + 20;
  await until(`${what}: it serves`, async () => goesOn(), { within: 60, last: () => JSON.stringify(client.now()) });
}

test('a program with etcd’s Go client outlives all that happens to its etcd', async (t) => {
  const { tickUntil, access, accessNow, kubectl, namespace } = stage();
  await push({});
  await tickUntil(name, isConverged);
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'go-client-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const reached = await access(name);
  await putCertificates(directory, reached);
  client = stack.use(startGoClient(binary, directory, reached));
  const chapter = async (what: string, happens: () => Promise<unknown>) => {
    client.begin(what);
    await happens();
    await serves(what);
    const { acknowledged, longestGap: gap, longestLag: lag, problem = 'no error' } = client.now();
    t.diagnostic(`${what}: ${acknowledged} writes, at most ${gap} ms apart; events at most ${lag} ms late; ${problem}`);
    assert.ok(gap < longestGap, `${what}: ${gap} ms without service`);
  };

  await chapter('born', async () => {});
  await chapter('to 5', async () => {
    await push({ replicas: 5 });
    await tickUntil(name, isWholeOf(5));
  });
  await chapter('to 3, with other options', async () => {
    await push({ etcd: { snapshotCount: 5000 } });
    await tickUntil(name, (found) => isWhole(found) && found.spec.etcd?.snapshotCount === 5000, 240);
  });
  await chapter('to 3.7', async () => {
    await push({ etcd: { snapshotCount: 5000 }, version: '3.7.3' });
    await tickUntil(name, runsOn('3.7.3'), 240);
  });
  await chapter('its CAs are rotated', async () => {
    await kubectl(['-n', namespace, 'annotate', 'etcdcluster', name, `${annotations.rotateCertificates}=now`]);
    let last: EtcdCluster | undefined;
    const follows = async () => {
      await putCertificates(directory, await accessNow(name));
      last = await tickUntil(name, () => true);
      const rotated = last.status?.certificates?.rotation === 'now';
      return rotated && isReady(last) && condition(last, 'CertificatesReady')?.status === 'True';
    };
    const words = () => JSON.stringify([last?.status?.lastDecision, client.now()]);
    await until('only the new CAs are trusted', follows, { within: 240, last: words });
  });
  await chapter('a member is lost', async () => {
    const { status } = await stage().cluster(name);
    const lost = status?.leader ?? assert.fail('it has no leader');
    await kubectl(['-n', namespace, 'delete', 'pvc', lost, '--wait=false']);
    await kubectl(['-n', namespace, 'delete', 'pod', `${lost}-0`, '--grace-period=1']);
    const isHealed = (found: EtcdCluster) => isWhole(found) && !found.status?.members?.some((one) => one.name === lost);
    await tickUntil(name, isHealed, 240);
  });

  const { acknowledged, lost, missed, leaseLost, renewals } = await client.finish();
  t.diagnostic(`${acknowledged} writes, and its watch saw all of them`);
  assert.deepEqual([lost ?? [], missed ?? [], leaseLost], [[], [], 0]);
  assert.ok(renewals > 0, 'it took up the new certificates');
});
