import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import type { Job, PersistentVolume, PersistentVolumeClaim, Pod } from '../../manifests/kube-types.ts';
import { forBackupsLabels } from '../../manifests/render/offers.ts';
import { runAgent } from '../../reconcile/backup/agent/agent.ts';
import type { AgentResult } from '../../reconcile/backup/agent/result.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { connectTo } from './support/client.ts';
import { isWhole, isWholeOf } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { readKey, writeKey } from './support/keys.ts';
import { type Scene, scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const plaintext = { tls: { mode: 'Disabled' } } as const;

let backups = '';
const stage = scene({
  fleet: false,
  furnish: async (own) => {
    backups = await shelf(own);
  },
});

/** A PVC named `backups`, whose files lie where this returns, and a cluster `source` to take backups of. */
async function shelf({ kube, kubectl, namespace, tickUntil }: Scene): Promise<string> {
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: clusterYaml('source', namespace, { replicas: 1, ...plaintext }),
  });
  await tickUntil('source', isWholeOf(1), 90);
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, 'source-0');
  const pv = await kube.get<PersistentVolume>(resources.persistentVolumes, undefined, claim?.spec.volumeName ?? '');
  assert.ok(claim && pv);
  const { claimRef: _, ...spec } = pv.spec as NonNullable<PersistentVolume['spec']> & { readonly claimRef?: unknown };
  const from = (spec as { readonly local?: { readonly path: string } }).local?.path ?? assert.fail('no path');
  const path = await mkdtemp(join(dirname(from), 'backups-'));
  const volumeName = `backups-${namespace}`;
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: 'backups' };
  await kube.create<PersistentVolume>(resources.persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
    spec: { ...spec, local: { path }, claimRef, persistentVolumeReclaimPolicy: 'Retain' } as NonNullable<
      PersistentVolume['spec']
    >,
  });
  await kube.create<PersistentVolumeClaim>(resources.volumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'backups', namespace, labels: forBackupsLabels },
    spec: { ...claim.spec, volumeName },
  });
  return path;
}

async function backUp(name: string, file: string): Promise<NonNullable<AgentResult['record']>> {
  const { url } = await stage().access(name);
  const request = {
    operation: 'backup',
    id: file,
    object: `pvc://backups/${file}`,
    store: { directory: backups },
    source: { endpoints: [url] },
    deadlineSeconds: 60,
  };
  const { result } = await runAgent(JSON.stringify(request), {
    signal: AbortSignal.timeout(60_000),
    now: () => new Date(),
    note: () => undefined,
  });
  return result.record ?? assert.fail(result.message);
}

async function apply(name: string, file: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  const bootstrap = { snapshot: { object: `pvc://backups/${file}` } };
  const stdin = clusterYaml(name, namespace, { replicas: 1, ...plaintext, bootstrap, ...fields });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

test('a snapshot under load becomes a cluster of its own, with all that was acknowledged', async (t) => {
  const { access, tickUntil, cluster, kubectl, namespace } = stage();
  const source = await access('source');
  const writer = startWriter(source, 'load');
  await until('a hundred writes', async () => writer.acknowledged >= 100);
  const before = writer.acknowledged;
  const { revisionAtMost } = await backUp('source', 'load.db');

  await apply('restored', 'load.db', { replicas: 3 });
  const foretold = await foretell(stage(), 'restored');
  assert.match(foretold.summary, /: restored from a snapshot, \+3 members/);
  const whole = await tickUntil('restored', isWhole, 240);
  t.diagnostic(assertForetold(foretold, whole));
  const { status } = whole;
  const old = (await cluster('source')).status?.clusterID;
  assert.ok(status?.clusterID && status.clusterID !== old, 'it has an ID of its own');
  const restored = await access('restored');
  for (let number = 0; number < before; number += 1)
    assert.equal(await readKey(restored, `load/${number}`), `value of load/${number}`);

  await writeKey(restored, 'only here', 'yes');
  assert.equal(await readKey(source, 'only here'), null, 'the source lives on, by itself');
  const client = connectTo(restored, 5000);
  const { header } = await client.put('revision').value('x');
  client.close();
  assert.ok(Number(header.revision) > revisionAtMost + 1_000_000_000, 'no watcher goes back in time');
  const { lost } = await writer.finish();
  assert.deepEqual(lost, []);

  // Applied again it repeats nothing; the API server keeps it from naming another one.
  await apply('restored', 'load.db', { replicas: 3 });
  await tickUntil('restored', isWhole, 60);
  assert.equal(await readKey(restored, 'only here'), 'yes');
  await assert.rejects(apply('restored', 'other.db', { replicas: 3 }), /bootstrap.snapshot is read at birth only/);
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'restored']);
});

test('pods of a restore that are killed are followed by others, which end with the data', async () => {
  const { tickUntil, ticksUntil, list, kubectl, namespace, access, get } = stage();
  await writeKey(await access('source'), 'kept', 'yes');
  await backUp('source', 'kept.db');
  await apply('killed', 'kept.db');
  const killed = new Set<string>();
  const kill = async () => {
    const pods = (await list<Pod>(resources.pods)).map(({ metadata }) => metadata.name);
    const pod = pods.find((one) => one.startsWith('killed-0-restore-') && !killed.has(one));
    if (pod === undefined) return false;
    killed.add(pod);
    await kubectl(['-n', namespace, 'delete', 'pod', pod, '--grace-period=0', '--force', '--wait=false']);
    return killed.size === 3;
  };
  // Beside the ticks: a pod that is seen only when a tick has ended may have ended as well.
  const patience = { within: 120, last: () => `killed: ${[...killed].join()}` };
  const killing = until('three of its pods are killed', kill, patience);
  await Promise.all([killing, ticksUntil('they are killed', () => killed.size === 3, patience)]);
  const { status } = await tickUntil('killed', isWholeOf(1), 120);
  assert.equal(await readKey(await access('killed'), 'kept'), 'yes');
  assert.ok(status?.history?.some(({ reason }) => reason === 'RepeatingRestore'));
  assert.equal(await get<Job>(resources.jobs, 'killed-0-restore'), undefined, 'its Job is deleted');
});

test('a snapshot of 3.5 becomes a cluster of 3.6', async () => {
  const { tickUntil, access, kubectl, namespace } = stage();
  const stdin = clusterYaml('older', namespace, { replicas: 1, version: '3.5.35', ...plaintext });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
  await tickUntil('older', isWholeOf(1), 90);
  await writeKey(await access('older'), 'from', '3.5');
  await backUp('older', 'older.db');
  await apply('newer', 'older.db');
  const { status } = await tickUntil('newer', isWholeOf(1), 120);
  assert.equal(status?.version, '3.6.16');
  assert.equal(await readKey(await access('newer'), 'from'), '3.5');
});

test('an EtcdRestore makes its cluster once, and repeats nothing when that is deleted', async () => {
  const { kubectl, namespace, tick, access, get, list } = stage();
  await backUp('source', 'asked.db');
  const spec = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, ...plaintext };
  const document = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdRestore',
    metadata: { name: 'asked', namespace },
    spec: { from: { object: 'pvc://backups/asked.db' }, cluster: { name: 'asked-for', spec } },
  };
  const applied = () => kubectl(['apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(document) });
  const reasonOf = async () => {
    await tick('--wait=2');
    const found = await get<EtcdRestore>(resources.restores, 'asked');
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  };
  await applied();
  await until('it is restored', async () => (await reasonOf()) === 'Restored', { within: 120 });
  assert.equal(await readKey(await access('asked-for'), 'kept'), 'yes');
  const made = await get<EtcdCluster>(resources.clusters, 'asked-for');
  const told = await get<EtcdRestore>(resources.restores, 'asked');
  assert.partialDeepStrictEqual(told?.status, {
    clusterUID: made?.metadata.uid,
    clusterID: made?.status?.clusterID,
    object: 'pvc://backups/asked.db',
  });

  await kubectl(['-n', namespace, 'delete', 'etcdcluster', 'asked-for']);
  await applied();
  await tick();
  await tick();
  const names = (await list<EtcdCluster>(resources.clusters)).map(({ metadata }) => metadata.name);
  assert.ok(!names.includes('asked-for'), 'it is not made again');
});
