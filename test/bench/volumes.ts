import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LocalCluster } from '../support/cluster/local-cluster.ts';
import type { Sandbox } from '../support/cluster/sandbox.ts';

/**
 * Puts the nodes' volumes on a ramfs and resolves with its path. Before the first volume.
 *
 * etcd reserves 128 MiB for logs that it has not written yet: on a tmpfs that is memory, which a hundred clusters do
 * not leave. A ramfs knows no reservations, and etcd then only makes its files long.
 */
export async function keepVolumesSparse({ directory }: LocalCluster): Promise<string> {
  const volumes = join(directory, 'node/volumes');
  await promisify(execFile)('mount', ['-t', 'ramfs', 'bench', volumes]);
  return volumes;
}

/** Puts the nodes' volumes on the disk of temporary files, where fsync costs what it costs. Before the first volume. */
export async function keepVolumesOnDisk({ directory }: LocalCluster, { sharedDirectory }: Sandbox): Promise<string> {
  const [volumes, disk] = [join(directory, 'node/volumes'), join(sharedDirectory, 'volumes')];
  await mkdir(disk, { recursive: true });
  await promisify(execFile)('mount', ['--bind', disk, volumes]);
  return volumes;
}
