import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SnapshotSource } from '../../manifests/api/backup-settings.ts';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { PersistentVolumeClaim, Secret, Service } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { snapshotOf } from '../../manifests/render/restored-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { backupUntil, createBackup, reasonOf } from './support/backups.ts';
import { connectTo } from './support/client.ts';
import { condition, isStalledFor, isWhole, isWholeOf } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { readKey, writeKey } from './support/keys.ts';
import { asOf, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({ fleet: false, furnish: makeBackupStore });

const to = { object: 'pvc://backups/{{namespace}}/{{cluster}}/{{timestamp}}.db', compression: 'Zstd' } as const;

async function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  const stdin = clusterYaml(name, namespace, fields);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

async function backUp(name: string): Promise<{ readonly backup: EtcdBackup; readonly snapshot: SnapshotSource }> {
  await createBackup(stage(), `${name}-now`, { clusterName: name, to, verify: 'Trailer' });
  const backup = await backupUntil(stage(), `${name}-now`, (one) => reasonOf(one) === 'Taken');
  return { backup, snapshot: snapshotOf(backup) ?? assert.fail('there is no object') };
}

const said = (cluster: EtcdCluster) => condition(cluster, 'Stalled')?.message ?? '';

async function revisionOf(name: string): Promise<number> {
  const client = connectTo(await stage().access(name), 5000);
  try {
    return Number((await client.put('revision').value('x')).header.revision);
  } finally {
    client.close();
  }
}

async function volumesOf(name: string): Promise<readonly PersistentVolumeClaim[]> {
  const all = await stage().list<PersistentVolumeClaim>(resources.volumeClaims);
  return all.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

const stateOf = ({ metadata }: PersistentVolumeClaim) => metadata.annotations?.[annotations.volumeState];

test('wrong writes are rolled back under the same Service and certificates, once approved', async () => {
  const name = 'orders';
  const { tickUntil, access, get, list } = stage();
  await apply(name);
  const born = await tickUntil(name, isWhole, 120);
  const old = born.status?.clusterID ?? assert.fail('no cluster ID');
  const client = await access(name);
  await writeKey(client, 'balance', 'right');
  const { backup, snapshot } = await backUp(name);
  await writeKey(client, 'balance', 'wrong');
  await writeKey(client, 'later', 'yes');
  const before = await revisionOf(name);
  const service = await get<Service>(resources.services, name);
  const secret = await get<Secret>(resources.secrets, `${name}-client-tls`);
  assert.match(snapshot.sha256 ?? '', /^[0-9a-f]{64}$/);
  assert.equal(snapshot.revision, backup.status?.revision);

  // Another etcd cluster's ID: nothing is done, and the right one is named.
  await apply(name, { rollback: { clusterID: 'dead', snapshot } });
  const outdated = await tickUntil(name, isStalledFor('RollbackOutdated'));
  assert.match(said(outdated), new RegExp(`gives up etcd cluster dead, and this is etcd cluster ${old}`));

  await apply(name, { rollback: { clusterID: old, snapshot } });
  const asked = await tickUntil(name, isStalledFor('RollbackNotApproved', { unchanged: true }));
  const approval = approvalAskedBy(asked);
  assert.ok(approval.value.startsWith(`${old}/`));
  assert.match(said(asked), new RegExp(`everything that was written after revision ${snapshot.revision}`));
  for (const [given, whose] of [
    [`dead/${approval.value.split('/')[1]}`, 'another etcd cluster'],
    [`${old}/000000000000`, 'another snapshot'],
  ] as const) {
    await approve(stage(), name, { ...approval, value: given });
    await tickUntil(name, (found) => said(found).includes(`is for ${whose}, and void`));
  }
  assert.equal(await readKey(client, 'balance'), 'wrong', 'without its approval nothing happens');
  assert.equal((await volumesOf(name)).length, 3);

  const approves = typedIn('e2e/rollback')('docs/how-to/roll-back.md');
  await type(stage(), name, {}, asOf({ payments: stage().namespace }, approves));
  const foretold = await foretell(stage(), name);
  const words = foretold.steps.map(({ reason }) => reason).filter((reason) => reason !== 'IssuingCertificates');
  assert.deepEqual(
    words.slice(0, 6),
    ['RollingBack', 'RestoringSnapshot', 'ConcludingRestore', 'GivingUpMembers', 'StoppingMembers', 'DroppingPeers'],
    foretold.summary,
  );
  const whole = await tickUntil(name, (found) => isWhole(found) && found.status?.clusterID !== old, 240);
  console.log(assertForetold(foretold, whole));

  // By the same Service, once its endpoints are the new members, with the same certificates.
  assert.equal((await access(name)).url, client.url);
  assert.equal(await readKey(client, 'balance'), 'right');
  assert.equal(await readKey(client, 'later'), null);
  assert.ok((await revisionOf(name)) > before + 900_000_000, 'no watcher goes back in time');
  const now = await get<Service>(resources.services, name);
  assert.deepEqual([now?.metadata.uid, now?.spec.clusterIP], [service?.metadata.uid, service?.spec.clusterIP]);
  assert.deepEqual((await get<Secret>(resources.secrets, `${name}-client-tls`))?.data, secret?.data);
  assert.deepEqual(whole.status?.gaveUp, [old]);
  const history = whole.status?.history?.map(({ message }) => message).join('\n') ?? '';
  assert.match(history, new RegExp(`goes back to ${snapshot.object}`));
  assert.match(
    history,
    new RegExp(`first member of etcd cluster ${whole.status?.clusterID}, which takes the place of ${old}`),
  );

  // What was given up is kept, and its members are no more.
  const kept = (await volumesOf(name)).filter((one) => stateOf(one) === 'superseded');
  assert.deepEqual(
    kept.map(({ metadata }) => metadata.name),
    ['orders-0', 'orders-1', 'orders-2'],
  );
  for (const { metadata } of kept) assert.ok(metadata.annotations?.[annotations.replacedAt], metadata.name);
  const peers = (await list<EtcdPeer>(resources.peers)).map(({ metadata }) => metadata.name);
  assert.deepEqual(peers.filter((one) => one.startsWith('orders-')).toSorted(), ['orders-3', 'orders-4', 'orders-5']);

  const next = (await volumesOf(name)).find(({ metadata }) => metadata.name === 'orders-3');
  assert.equal(next?.metadata.annotations?.[annotations.trial], 'passed', 'an etcd has served a copy before');

  // The same document again, and the same approval: it is over.
  await apply(name, { rollback: { clusterID: old, snapshot } });
  await approve(stage(), name, approval);
  await writeKey(client, 'since', 'kept');
  const again = await tickUntil(name, isWhole, 60);
  assert.equal(again.status?.clusterID, whole.status?.clusterID);
  assert.equal(await readKey(client, 'since'), 'kept');
});

test('a cluster whose volumes are all gone goes on from a backup under its own name', async () => {
  const name = 'bereft';
  const { tickUntil, access, kubectl, namespace } = stage();
  await apply(name, { replicas: 1 });
  const born = await tickUntil(name, isWholeOf(1), 90);
  const clusterID = born.status?.clusterID ?? assert.fail('no cluster ID');
  const client = await access(name);
  await writeKey(client, 'saved', 'yes');
  const { snapshot } = await backUp(name);
  await kubectl(['-n', namespace, 'delete', 'pvc', 'bereft-0', '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', 'bereft-0-0', '--grace-period=1']);
  const lost = await tickUntil(name, (found) => said(found).includes('spec.rollback of bereft'), 60);
  const printed = /approve it: (\{.*?\}\})\. /.exec(said(lost))?.[1] ?? assert.fail(said(lost));
  assert.deepEqual(JSON.parse(printed), { clusterID, snapshot });

  await apply(name, { replicas: 1, rollback: JSON.parse(printed) as unknown });
  const asked = await tickUntil(name, ({ status }) => status?.approvals !== undefined, 60);
  await approve(stage(), name, approvalAskedBy(asked));
  const whole = await tickUntil(name, (found) => isWholeOf(1)(found) && found.status?.clusterID !== clusterID, 120);
  assert.deepEqual(whole.status?.gaveUp, [clusterID]);
  assert.equal((await access(name)).url, client.url);
  assert.equal(await readKey(client, 'saved'), 'yes');
});
