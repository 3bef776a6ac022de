import { EtcdError } from '../../interfaces/etcd.ts';
import type { EtcdAdmin } from '../../interfaces/etcd-admin.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import { differsFromPeers } from '../know/health/hashes.ts';
import { memberOf } from '../know/health/health.ts';
import { quorumOf } from '../know/membership/quorum.ts';
import { votersOf } from '../know/membership/voters.ts';
import type { HashAnswer, Hashes, Observation, Slot } from '../know/observation.ts';
import { isCorrupt } from '../know/space/databases.ts';
import type { EtcdAnswers } from './ask-etcd.ts';

/** A member reads its whole database for it; milliseconds. */
const timeoutMs = 15_000;

/**
 * Every voter is asked for the hash of its keys, all at one revision; only while etcd has raised CORRUPT, or a member
 * does not start because its data differ: otherwise no member has to read its whole database.
 *
 * The revision is the highest that more than half have reached.
 */
export async function askHashes(
  way: EtcdWay,
  { slots, membership }: EtcdAnswers,
  signal: AbortSignal,
): Promise<Pick<Observation, 'hashes'>> {
  const isSuspect = isCorrupt(slots) || slots.some(differsFromPeers);
  if (membership.kind === 'unknown' || !isSuspect) return {};
  const voters = votersOf(membership.members).map(({ id }) => ({
    id,
    slot: slots.find((one) => memberOf(one, membership.members)?.id === id),
  }));
  const reached = voters.flatMap(({ slot }) =>
    slot?.endpoint.kind === 'known' ? [slot.endpoint.status.revision] : [],
  );
  const revision = reached.toSorted((a, b) => Number(b - a))[quorumOf(voters.length) - 1];
  if (revision === undefined) return {};
  try {
    return await withEtcd(way, async (etcd) => {
      const ask = ({ id, slot }: (typeof voters)[number]) =>
        askHash(etcd, { id, slot, slots, revision, endpoint: way.endpoints.get(slot?.name ?? '') }, signal);
      return { hashes: { revision, answers: await Promise.all(voters.map(ask)) } satisfies Hashes };
    });
  } catch (error) {
    if (error instanceof EtcdError) return {};
    throw error;
  }
}

interface Question {
  readonly id: string;
  readonly slot: Slot | undefined;
  readonly slots: readonly Slot[];
  readonly revision: bigint;
  readonly endpoint: string | undefined;
}

async function askHash(etcd: EtcdAdmin, question: Question, signal: AbortSignal): Promise<HashAnswer> {
  const { slot } = question;
  const answer = await hashOf(etcd, question, signal);
  return slot?.endpoint.kind === 'known' ? { ...answer, revision: slot.endpoint.status.revision } : answer;
}

async function hashOf(etcd: EtcdAdmin, question: Question, signal: AbortSignal): Promise<HashAnswer> {
  const { id: memberId, slot, slots, revision, endpoint } = question;
  if (!slot || endpoint === undefined) return { kind: 'unknown', memberId, cause: 'it does not run' };
  try {
    const found = await etcd.hashKv(endpoint, { revision, timeoutMs, signal });
    if (found.memberId !== memberId) return { kind: 'unknown', memberId, cause: `${found.memberId} answers there` };
    return { kind: 'hash', memberId, hash: found.hash, compactRevision: found.compactRevision };
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    if (error.reason === 'FutureRevision' && isCorrupt(slots) && hasAppliedAll(slot, slots))
      return { kind: 'behind', memberId };
    return { kind: 'unknown', memberId, cause: error.message };
  }
}

/**
 * Under the alarm no revision is added any more: a member that has applied as much as any other, and lacks a revision
 * all the same, has lost it.
 */
function hasAppliedAll(slot: Slot, slots: readonly Slot[]): boolean {
  const applied = ({ endpoint }: Slot) => (endpoint.kind === 'known' ? endpoint.status.raftAppliedIndex : 0n);
  return slot.endpoint.kind === 'known' && slots.every((other) => applied(other) <= applied(slot));
}
