import { type EndpointStatus, EtcdError } from '../../interfaces/etcd.ts';
import type { EtcdAdmin } from '../../interfaces/etcd-admin.ts';
import { BackupFailure } from '../../jobs/failure.ts';

/** The part of etcd that a backup asks, besides the snapshot itself. */
export type AskedEtcd = Pick<EtcdAdmin, 'status' | 'members' | 'alarms' | 'hashKv' | 'hasHistory'>;

export interface Source extends EndpointStatus {
  readonly endpoint: string;
}

export interface SourceOptions {
  readonly signal: AbortSignal;
  /** The cluster that is meant, if that is known: an address may have gone to another one. */
  readonly clusterId?: string;
}

/**
 * The source of a snapshot: a follower in the quorum that has applied all writes acknowledged before; of several the
 * furthest. The leader only without one: a snapshot costs disk reads that writes wait for. Never a learner, which may
 * lack writes, nor a member that etcd accuses of other data.
 */
export async function chooseSource(
  etcd: AskedEtcd,
  endpoints: readonly string[],
  { signal, clusterId }: SourceOptions,
): Promise<Source> {
  const { answered, silent } = await statusesOf(etcd, endpoints, signal);
  if (answered.length === 0) throw unreachable(silent);
  const id = oneCluster(answered, clusterId);
  const voters = answered.filter(({ isLearner }) => !isLearner);
  if (voters.length === 0) throw onlyLearners(answered);
  const sound = await unaccused(etcd, voters, id, signal);
  const ordered = sound.toSorted((a, b) => leads(a) - leads(b) || Number(b.raftAppliedIndex - a.raftAppliedIndex));
  const refusals: string[] = [];
  for (const candidate of ordered) {
    try {
      // Linearizable: answered only by a member of the quorum, once it has applied what was acknowledged before.
      await etcd.members([candidate.endpoint], { signal });
      const status = await etcd.status(candidate.endpoint, { signal });
      if (status.memberId === candidate.memberId && !status.isLearner)
        return { ...status, endpoint: candidate.endpoint };
      refusals.push(`${candidate.endpoint} is another member by now`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EtcdError)) throw error;
      refusals.push(error.message);
    }
  }
  throw new BackupFailure(
    'NoQuorum',
    `no member answers a linearizable read, so none is known to have all that was acknowledged; see that most members are up: ${refusals.join('; ')}`,
  );
}

async function statusesOf(etcd: AskedEtcd, endpoints: readonly string[], signal: AbortSignal) {
  const answered: Source[] = [];
  const silent: string[] = [];
  const asked = endpoints.map(async (endpoint) => {
    try {
      answered.push({ ...(await etcd.status(endpoint, { signal })), endpoint });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EtcdError)) throw error;
      silent.push(error.message);
    }
  });
  await Promise.all(asked);
  return { answered, silent };
}

function oneCluster(answered: readonly Source[], expected: string | undefined): string {
  const ids = [...new Set(answered.map(({ clusterId }) => clusterId))];
  const [id = ''] = ids;
  const cure = 'list the endpoints of the one cluster that is meant';
  if (ids.length > 1)
    throw new BackupFailure(
      'AnotherCluster',
      `the endpoints belong to different clusters (${ids.join(', ')}): ${cure}`,
    );
  if (expected !== undefined && id !== expected)
    throw new BackupFailure('AnotherCluster', `cluster ${id} answers where ${expected} is expected: ${cure}`);
  return id;
}

async function unaccused(
  etcd: AskedEtcd,
  voters: readonly Source[],
  clusterId: string,
  signal: AbortSignal,
): Promise<readonly Source[]> {
  const endpoints = voters.map(({ endpoint }) => endpoint);
  const alarms = await etcd.alarms(endpoints, { signal, clusterId }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof EtcdError)) throw error;
    throw new BackupFailure(
      'NoQuorum',
      `the cluster's alarms can't be read; see that most members are up: ${error.message}`,
      error,
    );
  });
  const corrupt = alarms.filter(({ alarm }) => alarm === 'CORRUPT').map(({ memberId }) => memberId);
  const sound = voters.filter(({ memberId }) => !corrupt.includes(memberId));
  if (!corrupt.includes('0') && sound.length > 0) return sound;
  throw new BackupFailure(
    'Corrupt',
    'etcd raises the alarm CORRUPT and no member is known to have the right data: find out which has, replace the others, disarm the alarm, then back up',
  );
}

function leads({ memberId, leader }: Source): number {
  return memberId === leader ? 1 : 0;
}

function unreachable(silent: readonly string[]): BackupFailure {
  return new BackupFailure(
    'Unreachable',
    `no endpoint of etcd answers; see that the members run, and that network policies and certificates let this pod in: ${silent.join('; ')}`,
  );
}

function onlyLearners(answered: readonly Source[]): BackupFailure {
  const names = answered.map(({ endpoint }) => endpoint).join(', ');
  return new BackupFailure(
    'OnlyLearners',
    `${names} answer, and all are learners, which may lack acknowledged writes: list a voter's endpoint`,
  );
}
