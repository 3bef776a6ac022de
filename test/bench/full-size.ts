import { execFile } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { forBackupsLabels } from '../../manifests/render/offers.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { until } from '../e2e/support/until.ts';
import { fill } from '../integration/backup/members.ts';
import { startMembers } from '../integration/clients/etcd-members.ts';
import { type Programs, saveSnapshot } from './backup-by-hand.ts';
import { valueBytes, version } from './backup-stage.ts';
import { growByHand, restoreThreeByHand, type Sizes, type Task } from './full-size-by-hand.ts';
import { growByKubectl, objectsOf, removeByKubectl } from './full-size-by-kubectl.ts';
import { printFullSize } from './full-size-print.ts';
import { bearRestored, type Restored } from './full-size-restored.ts';
import { namespace, remove, type Stage } from './stage.ts';

export interface FullSizeOptions {
  readonly programs: Programs;
  /** Of the nodes' volumes. */
  readonly volumes: string;
  readonly mebibytes: number;
  readonly times: number;
  readonly traced: boolean;
}

const claimName = 'backups';
const object = 'bench.db';

/**
 * Prints how long it takes from a snapshot to the first member that serves, and to three: an EtcdCluster that is
 * applied, and by hand, by turns.
 */
export async function measureFullSize(stage: Stage, options: FullSizeOptions): Promise<void> {
  const { programs, volumes, mebibytes, times, traced } = options;
  const keys = Math.ceil((mebibytes * 1024 ** 2) / valueBytes);
  // Space for the database, for a second one beside it, and for the log.
  const size = `${Math.ceil((mebibytes * 4) / 1024) + 1}Gi`;
  const shelf = await makeShelf(stage, volumes, size);
  const snapshot = join(shelf, object);
  await takeSnapshot(programs, keys, snapshot);
  const bytes = (await stat(snapshot)).size;
  const task: Omit<Task, 'directory'> = { programs, snapshot, keys };
  const ours: Restored[] = [];
  const applied: Sizes[] = [];
  const grown: Sizes[] = [];
  const three: Sizes[] = [];
  const directory = join(volumes, 'by-hand');
  for (let n = 1; n <= times; n++) {
    await flushed();
    const name = `restored-${n}`;
    ours.push(await bearRestored(stage, { name, size, keys, object: `pvc://${claimName}/${object}`, traced }));
    const byHand = `by-hand-${n}`;
    const objects = await objectsOf(stage, name, byHand);
    await takeAway(stage, name, volumes);
    await flushed();
    const shelved = { claimName, file: object };
    applied.push(await growByKubectl(stage, objects, { name: byHand, keys, shelf: shelved }));
    await removeByKubectl(stage, byHand);
    await volumesGone(byHand, volumes);
    await flushed();
    grown.push(await growByHand({ ...task, directory }));
    await flushed();
    three.push(await restoreThreeByHand({ ...task, directory }));
    console.error(
      `run ${n} of ${times}: ${ours.at(-1)?.full.toFixed(1)} s, by hand ${grown.at(-1)?.full.toFixed(1)} s`,
    );
  }
  printFullSize({ version, keys, valueBytes, bytes, times, ours, applied, grown, three });
}

/** A PVC with a directory of its own on the disk of the volumes, which every node reaches. Its path. */
async function makeShelf({ kube }: Stage, volumes: string, storage: string): Promise<string> {
  const path = join(volumes, 'shelf');
  await mkdir(path, { mode: 0o777 });
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: 'standard' } as const;
  const values = ['node-1', 'node-2', 'node-3'];
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values }];
  const spec = {
    ...shared,
    capacity: { storage },
    persistentVolumeReclaimPolicy: 'Retain',
    local: { path },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName },
  } as NonNullable<PersistentVolume['spec']>;
  await kube.create<PersistentVolume>(resources.persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: claimName },
    spec,
  });
  await kube.create<PersistentVolumeClaim>(resources.volumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claimName, namespace, labels: forBackupsLabels },
    spec: { ...shared, volumeName: claimName, resources: { requests: { storage } } },
  });
  return path;
}

async function takeSnapshot(programs: Programs, keys: number, file: string): Promise<void> {
  await using source = await startMembers(programs.etcd, 1, [`--quota-backend-bytes=${8 * 1024 ** 3}`]);
  const url = source.members[0]?.clientUrl ?? '';
  await fill(url, keys, valueBytes);
  await saveSnapshot(programs, url, file);
}

/** And its files, so that their removal takes no time from what is measured next. */
async function takeAway(stage: Stage, name: string, volumes: string): Promise<void> {
  const cluster = await stage.kube.get<EtcdCluster>(resources.clusters, namespace, name);
  if (!cluster) throw new Error(`EtcdCluster ${name} has gone`);
  await remove(stage, cluster);
  await volumesGone(name, volumes);
}

async function volumesGone(name: string, volumes: string): Promise<void> {
  const gone = async () => (await readdir(volumes)).every((entry) => !entry.startsWith('pvc-'));
  await until(`the volumes of ${name} are gone`, gone);
}

/** What was written is on the disk: no run pays for the one before. */
async function flushed(): Promise<void> {
  await promisify(execFile)('sync');
}
