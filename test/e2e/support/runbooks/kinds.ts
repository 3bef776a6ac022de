import type { EtcdBackup } from '../../../../manifests/api/etcd-backup.ts';
import type { EtcdRestore } from '../../../../manifests/api/etcd-restore.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { within } from './story.ts';

/** Of docs/runbooks/backup-fails.md: what befalls an EtcdBackup or an EtcdRestore, and how the page ends it. */
export interface KindStory {
  /** What happens, as the name of a test. */
  readonly title: string;
  readonly kind: 'EtcdBackup' | 'EtcdRestore';
  /** Of `Stalled`. */
  readonly reason: string;
  /** Of the object that is stuck. */
  readonly name: string;
  happen(scene: Scene): Promise<unknown>;
  /** What the page asks for. */
  correct(scene: Scene): Promise<unknown>;
  /** Another object takes its place, where the page asks for one. */
  readonly instead?: string;
}

/** What its reader ends with: the backup is stored, the restore goes on. */
export const endsWith = { EtcdBackup: 'Taken', EtcdRestore: 'Restoring' } as const;

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}-{{uid}}.db' } as const;

function create({ kubectl, namespace }: Scene, kind: string, name: string, spec: object): Promise<string> {
  const object = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name, namespace }, spec };
  return kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });
}

const backUp = (scene: Scene, name: string, spec: Partial<EtcdBackup['spec']> = {}) =>
  create(scene, 'EtcdBackup', name, { clusterName: 'orders', to, verify: 'Trailer', ...spec });

/** Suspended: the EtcdCluster is all that the restore has to make here. */
const restore = (scene: Scene, name: string, spec: Partial<EtcdRestore['spec']>, cluster = name, version = '3.6.16') =>
  create(scene, 'EtcdRestore', name, {
    cluster: { name: cluster, spec: { replicas: 1, version, storage: { size: '1Gi' }, suspend: true } },
    ...spec,
  });

/** Stored by the first story. */
const good = { backupName: 'elsewhere' } as const;

async function counted(scene: Scene, quota: string, hard: string): Promise<void> {
  await within(scene, 'create', 'quota', quota, `--hard=${hard}`);
  await until(`quota ${quota} counts`, async () => {
    const path = 'jsonpath={.status.hard}';
    return (await within(scene, 'get', 'quota', quota, '-o', path)) !== '';
  });
}

export const ofKinds: readonly KindStory[] = [
  {
    title: 'a backup would go to the volume of a member',
    kind: 'EtcdBackup',
    reason: 'MemberVolume',
    name: 'on-member',
    happen: (scene) => backUp(scene, 'on-member', { to: { object: 'pvc://orders-0/a.db' } }),
    correct: (scene) => backUp(scene, 'elsewhere'),
    instead: 'elsewhere',
  },
  {
    title: 'a quota refuses the Job of a backup',
    kind: 'EtcdBackup',
    reason: 'JobRefused',
    name: 'refused',
    async happen(scene) {
      await counted(scene, 'no-jobs', 'count/jobs.batch=0');
      await backUp(scene, 'refused');
    },
    correct: (scene) => within(scene, 'delete', 'quota', 'no-jobs'),
  },
  {
    title: 'a restore names a backup that is not there',
    kind: 'EtcdRestore',
    reason: 'BackupAbsent',
    name: 'absent',
    happen: (scene) => restore(scene, 'absent', { backupName: 'later' }),
    correct: (scene) => backUp(scene, 'later'),
  },
  {
    title: 'a restore names a backup that failed',
    kind: 'EtcdRestore',
    reason: 'BackupNotReady',
    name: 'of-failed',
    happen: (scene) => restore(scene, 'of-failed', { backupName: 'on-member' }),
    correct: (scene) => restore(scene, 'of-good', good),
    instead: 'of-good',
  },
  {
    title: 'a restore asks for an older minor than that of the backup',
    kind: 'EtcdRestore',
    reason: 'SnapshotTooNew',
    name: 'too-new',
    happen: (scene) => restore(scene, 'too-new', good, 'too-new', '3.5.35'),
    correct: (scene) => restore(scene, 'new-enough', good),
    instead: 'new-enough',
  },
  {
    title: 'a restore names a cluster that is there',
    kind: 'EtcdRestore',
    reason: 'ClusterExists',
    name: 'same-name',
    happen: (scene) => restore(scene, 'same-name', good, 'orders'),
    correct: (scene) => restore(scene, 'other-name', good),
    instead: 'other-name',
  },
  {
    title: 'a quota refuses the EtcdCluster of a restore',
    kind: 'EtcdRestore',
    reason: 'ClusterRefused',
    name: 'no-room',
    async happen(scene) {
      await counted(scene, 'no-clusters', 'count/etcdclusters.etcd.ratchet.dev=1');
      await restore(scene, 'no-room', good);
    },
    correct: (scene) => within(scene, 'delete', 'quota', 'no-clusters'),
  },
  {
    title: 'the EtcdCluster of a restore is deleted',
    kind: 'EtcdRestore',
    reason: 'ClusterGone',
    name: 'of-good',
    happen: (scene) => within(scene, 'delete', 'etcdclusters.etcd.ratchet.dev', 'of-good', '--wait=false'),
    correct: (scene) => restore(scene, 'once-more', good),
    instead: 'once-more',
  },
];

export const resourceOf = { EtcdBackup: resources.backups, EtcdRestore: resources.restores } as const;
