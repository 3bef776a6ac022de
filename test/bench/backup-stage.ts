import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMembers } from '../integration/clients/etcd-members.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import type { Programs } from './backup-by-hand.ts';
import { type BundledAgent, bundledAgent } from './bundled-agent.ts';

/** Of etcd, in all measurements of backups. */
export const version = '3.6.16';
export const valueBytes = 256 * 1024;

export interface BackupStage {
  readonly directory: string;
  /** The client URL of a member of its own, with room for 8 GiB. */
  readonly source: string;
  readonly programs: Programs;
  readonly agent: BundledAgent;
}

/** What measurements of backups need: nothing of it is left. */
export async function onBackupStage(measure: (stage: BackupStage) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-bench-'));
  try {
    const { etcd, etcdctl, etcdutl } = await provisionBinaries();
    const programs = { etcd: etcd[version], etcdctl, etcdutl: etcdutl[version] };
    const agent = await bundledAgent(join(directory, 'app'));
    // It is only read in what is measured: how fast its disk takes writes is no part of that.
    const options = [`--quota-backend-bytes=${8 * 1024 ** 3}`, '--unsafe-no-fsync'];
    await using cluster = await startMembers(programs.etcd, 1, options);
    await measure({ directory, source: cluster.members[0]?.clientUrl ?? '', programs, agent });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
