import assert from 'node:assert/strict';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { type BackupWish, backupBefore, backupBeforeName } from '../../../manifests/render/backup-before.ts';
import { createBackup } from '../../../reconcile/cluster/act/requests/backup.ts';
import { backupAhead } from '../../../reconcile/cluster/know/backups/ahead.ts';
import { backupFinalizer } from '../../../reconcile/cluster/know/marks.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Contracts } from './contract.ts';
import { member } from './members.ts';
import { clusterName, type Scene } from './scene.ts';

const settings = {
  to: { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' },
  beforeHibernation: 'Required',
  beforeDeletion: 'Required',
} as const;

/** A member, whose cluster is to get a higher version after a backup; and maybe an EtcdBackup of that name. */
const upgrading = (change?: (made: EtcdBackup) => EtcdBackup) => ahead({ version: '3.7.3' }, change);

/** As `upgrading`, where the spec asks for something else. */
function ahead(wanted: Partial<EtcdClusterSpec>, change?: (made: EtcdBackup) => EtcdBackup) {
  return async (scene: Scene): Promise<EtcdCluster> => {
    await member(scene);
    const found = await scene.read<EtcdCluster>('cluster', clusterName);
    const cluster = await scene.kube.update<EtcdCluster>(resources.clusters, {
      ...found,
      spec: { ...found.spec, ...wanted, backup: settings },
    });
    if (change) await makeAsked(scene, cluster, change);
    return cluster;
  };
}

async function makeAsked(scene: Scene, cluster: EtcdCluster, change: (made: EtcdBackup) => EtcdBackup): Promise<void> {
  const made = change(backupBefore(cluster, wishIn((await scene.look()).observation)));
  const { status } = made;
  if (status) await scene.makeWithStatus<EtcdBackup>(resources.backups, made, status);
  else await scene.make<EtcdBackup>(resources.backups, made);
}

/** Its deletion waits for its last backup. */
const deleting = (change?: (made: EtcdBackup) => EtcdBackup) => async (scene: Scene) => {
  const found = await ahead({})(scene);
  const metadata = { ...found.metadata, finalizers: [backupFinalizer] };
  const { metadata: kept } = await scene.kube.update<EtcdCluster>(resources.clusters, { ...found, metadata });
  const preconditions = { uid: kept.uid ?? '' };
  await scene.kube.delete(resources.clusters, scene.namespace, clusterName, { preconditions });
  if (change) await makeAsked(scene, await scene.read<EtcdCluster>('cluster', clusterName), change);
};

/** All its members stopped after a backup, which is there; then it is deleted. */
const deletingAsleep = (change?: (made: EtcdBackup) => EtcdBackup) => async (scene: Scene) => {
  const at = new Date().toISOString().replace(/\.\d+/, '');
  const ready = { type: 'Ready', status: 'True', reason: 'Verified', message: 'x', lastTransitionTime: at } as const;
  const to = { object: 'gs://backups/orders/a.db', gcs: { keySecretName: 'key' } };
  const { metadata } = await scene.makeWithStatus<EtcdBackup>(
    resources.backups,
    {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdBackup',
      metadata: { name: 'slept', namespace: scene.namespace },
      spec: { clusterName, to, verify: 'Restore' },
    },
    {
      observedGeneration: 1,
      finishedAt: at,
      ...{ object: to.object, sha256: 'ab'.repeat(32), clusterID: 'c1' },
      verified: { at, revision: 7, etcdVersion: '3.6.16', took: '1s' },
      conditions: [ready],
    },
  );
  const hibernationBackup = { name: 'slept', uid: metadata.uid ?? '', endedAt: at };
  await member(scene, { record: { state: 'hibernating', hibernationBackup }, upTo: 'configMap' });
  const found = await scene.read<EtcdCluster>('cluster', clusterName);
  const { metadata: kept } = await scene.kube.update<EtcdCluster>(resources.clusters, {
    ...found,
    metadata: { ...found.metadata, finalizers: [backupFinalizer] },
    spec: { ...found.spec, replicas: 0, backup: settings },
  });
  await scene.kube.delete(resources.clusters, scene.namespace, clusterName, { preconditions: { uid: kept.uid ?? '' } });
  if (change) await makeAsked(scene, await scene.read<EtcdCluster>('cluster', clusterName), change);
};

/** Its data are three hours old. The API server dates an object by itself, and the pod of its Job by the status. */
function ended(made: EtcdBackup): EtcdBackup {
  const at = new Date(Date.now() - 3 * 3600_000).toISOString();
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Verified',
    message: 'restored',
    lastTransitionTime: at,
  } as const;
  return { ...made, status: { observedGeneration: 1, podCreatedAt: at, finishedAt: at, conditions: [ready] } };
}

function wishIn(seen: Observation): BackupWish {
  return backupAhead(seen) ?? assert.fail('nothing is ahead');
}

const asks = (seen: Observation) => {
  const wish = wishIn(seen);
  return createBackup({ name: backupBeforeName(seen.cluster, wish), wish });
};
const looks = (seen: Observation) => {
  assert.equal(wishIn(seen).existing?.object, 'gs://backups/orders/a.db');
  return asks(seen);
};
/** In the place of the one that is too old. */
const asksAgain = ({ awaitedBackup }: Observation) => {
  assert.ok(awaitedBackup?.kind === 'known' && awaitedBackup.tooOld, JSON.stringify(awaitedBackup));
  return createBackup(awaitedBackup.tooOld);
};
/** When it was made is the API server's word. */
const also = ({ awaitedBackup }: Observation) =>
  awaitedBackup?.kind === 'known' ? { ...awaitedBackup, askedAt: undefined } : awaitedBackup;

export const backup = {
  createBackup: [
    { when: 'there is none', start: upgrading(), asks, also },
    { when: 'it is there', start: upgrading((made) => made), asks, also },
    {
      when: 'a person made one of that name',
      start: upgrading((made) => ({ ...made, metadata: { ...made.metadata, annotations: {} } })),
      asks,
      also,
      refused: 'terminal NameTaken',
    },
    {
      when: 'one of that name is of another cluster',
      start: upgrading((made) => ({ ...made, spec: { ...made.spec, clusterName: 'another' } })),
      asks,
      also,
      refused: 'terminal NameTaken',
    },
    { when: 'it ended too long ago', start: upgrading(ended), asks: asksAgain, also },
    { when: 'members are to hibernate', start: ahead({ replicas: 0 }), asks, also },
    { when: 'members are to hibernate, and it is there', start: ahead({ replicas: 0 }, (made) => made), asks, also },
    { when: 'the cluster is being deleted', start: deleting(), asks, also },
    { when: 'the cluster is being deleted, and it is there', start: deleting((made) => made), asks, also },
    { when: 'the cluster is being deleted, and it ended too long ago', start: deleting(ended), asks: asksAgain, also },
    {
      when: 'the cluster sleeps, and is being deleted: it looks for what is stored',
      start: deletingAsleep(),
      asks: looks,
      also,
    },
    { when: 'the cluster sleeps, and it is looked for', start: deletingAsleep((made) => made), asks: looks, also },
    {
      when: 'the cluster sleeps, and it was looked for too long ago',
      start: deletingAsleep(ended),
      asks: asksAgain,
      also,
    },
    {
      when: 'the spec asks for another one by now',
      start: upgrading(),
      asks: (seen) => createBackup({ name: 'orders-before-another', wish: wishIn(seen) }),
      refused: 'precondition WorldMoved',
      differs: { because: 'a plan goes on from the spec that the name was made of', model: 'well', not: ['left'] },
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
