import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SnapshotSource } from '../../manifests/api/backup-settings.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { snapshotOf } from '../../manifests/render/restored-cluster.ts';
import { type Agreement, watchAgreement } from '../consumers/kube-apiserver/agreement.ts';
import { type ConsumingApiServer, startConsumer } from '../consumers/kube-apiserver/api-server.ts';
import { startBalancer } from '../support/cluster/balancer.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, reasonOf } from './support/backups.ts';
import { isConverged, isStalledFor, isWhole, isWholeOf } from './support/conditions.ts';
import { runsOn } from './support/life.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

const stage = scene({ furnish: makeBackupStore });
const name = 'control';
const healing = { podGracePeriod: '5s', memberGracePeriod: '20s' };
const balancerPort = 12_479;
/** An API server lists anew at the latest half a minute after its watch was refused. */
const longestDisagreementMs = 30_000;

let consumer: ConsumingApiServer;
let agreement: Agreement;

async function push(fields: Readonly<Record<string, unknown>>): Promise<void> {
  await stage().pushCluster(name, { healing, ...fields });
}

/** The API server writes, and its watch cache knows of it. */
async function serves(what: string): Promise<void> {
  const [written, agreed] = [agreement.written(), agreement.agreed()];
  const goesOn = () => agreement.written() >= written + 20 && agreement.agreed() >= agreed + 20;
  await until(`${what}: it serves`, goesOn, { within: 90, last: agreement.now });
}

async function backUp(as: string): Promise<SnapshotSource> {
  const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db', compression: 'Zstd' } as const;
  await createBackup(stage(), as, { clusterName: name, to, verify: 'Trailer' });
  const backup = await backupUntil(stage(), as, (one) => reasonOf(one) === 'Taken');
  return snapshotOf(backup) ?? assert.fail('there is no object');
}

/** Resolves with the fields that it lives on with. */
async function rollBack(snapshot: SnapshotSource, fields: Readonly<Record<string, unknown>>) {
  const { tickUntil, cluster } = stage();
  const clusterID = (await cluster(name)).status?.clusterID;
  const rolled = { ...fields, rollback: { clusterID, snapshot } };
  await push(rolled);
  await approve(stage(), name, approvalAskedBy(await tickUntil(name, isStalledFor('RollbackNotApproved'))));
  const isBack = (found: EtcdCluster) => isWhole(found) && found.status?.clusterID !== clusterID;
  await tickUntil(name, isBack, 240);
  return rolled;
}

test('a kube-apiserver outlives everything that happens to its etcd, and its watches with it', async (t) => {
  const { tickUntil, access, kubectl, namespace } = stage();
  await push({});
  await tickUntil(name, isConverged);
  const { url, credentials } = await access(name);
  const { hostname } = new URL(url);
  await using stack = new AsyncDisposableStack();
  stack.use(await startBalancer('127.0.0.1', balancerPort, { host: hostname, port: 2379 }));
  const directory = await mkdtemp(join(tmpdir(), 'consumer-'));
  const { rootCertificate, certChain, privateKey } = credentials ?? assert.fail('no credentials');
  assert.ok(certChain && privateKey);
  const { kubernetes } = await provisionBinaries();
  const etcd = { url: `https://localhost:${balancerPort}`, ca: rootCertificate, cert: certChain, key: privateKey };
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  consumer = stack.use(await startConsumer(kubernetes['kube-apiserver'], directory, etcd));
  agreement = stack.use(await watchAgreement(consumer));
  let end: string | undefined;
  void consumer.ended.then((why) => {
    end = why;
  });
  const chapter = async (what: string, happens: () => Promise<unknown>) => {
    await happens();
    await serves(what);
    assert.equal(end, undefined, `${what}: it ended`);
    t.diagnostic(`${what}: ${agreement.written()} writes, longest disagreement ${agreement.longest().toFixed(0)} ms`);
    assert.ok(agreement.longest() < longestDisagreementMs, `${what}: ${agreement.now()}`);
  };

  await chapter('born', async () => {});
  const snapshot = await backUp('early');
  await chapter('to 5', async () => {
    await push({ replicas: 5 });
    await tickUntil(name, isWholeOf(5));
  });
  await chapter('to 3, with other options', async () => {
    await push({ etcd: { snapshotCount: 5000 } });
    await tickUntil(name, (found) => isWhole(found) && found.spec.etcd?.snapshotCount === 5000, 240);
  });
  let fields: Readonly<Record<string, unknown>> = { etcd: { snapshotCount: 5000 } };
  await chapter('rolled back', async () => {
    fields = await rollBack(snapshot, fields);
  });
  await chapter('rolled back once more, to the same', async () => {
    fields = await rollBack(snapshot, fields);
  });
  await chapter('to 3.7', async () => {
    fields = { ...fields, version: '3.7.3' };
    await push(fields);
    await tickUntil(name, runsOn('3.7.3'), 240);
  });
  await chapter('recovered', async () => {
    const { status } = await stage().cluster(name);
    const lost = (status?.members ?? []).map((member) => member.name).filter((one) => one !== status?.leader);
    await kubectl(['-n', namespace, 'delete', 'pvc', ...lost, '--wait=false']);
    await kubectl(['-n', namespace, 'delete', 'pod', ...lost.map((one) => `${one}-0`), '--grace-period=1']);
    const asked = await tickUntil(name, isStalledFor('QuorumLost', { unchanged: true }), 240);
    await approve(stage(), name, approvalAskedBy(asked));
    await tickUntil(name, isWholeOf(3), 240);
  });
});
