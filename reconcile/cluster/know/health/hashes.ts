import { quorumOf } from '../membership/quorum.ts';
import type { Hashes, Membership, Slot } from '../observation.ts';

/** What the voters' hashes, all of one revision, say about whose data are right. */
export type Verdict =
  /** There was no reason for a comparison, or no member could be asked. */
  | { readonly kind: 'unasked' }
  /** All voters hold the same. */
  | { readonly kind: 'agreed' }
  /**
   * More than half of all voters have the same data; a voter that proved to differ is guilty, and a voter without proof
   * is neither.
   */
  | {
      readonly kind: 'majority';
      readonly trusted: ReadonlySet<string>;
      readonly guilty: ReadonlySet<string>;
      readonly others: readonly Reached[];
    }
  /** An outvoted member has a higher revision than the majority: it may be the only one with acknowledged writes. */
  | { readonly kind: 'ahead'; readonly ahead: readonly Reached[]; readonly others: readonly Reached[] }
  /** The data of voters differ, and no majority decides which are right. */
  | { readonly kind: 'split'; readonly groups: readonly (readonly string[])[] }
  /** Too few have answered. */
  | { readonly kind: 'open' };

export interface Reached {
  readonly memberId: string;
  readonly revision: bigint;
}

type Asked = { readonly membership: Membership; readonly hashes?: Hashes };

/** IDs of members, not names: a member that was removed and returned under another ID is another member. */
export function verdictOf({ hashes, membership }: Asked): Verdict {
  if (!hashes || membership.kind === 'unknown') return { kind: 'unasked' };
  const { answers } = hashes;
  const groups = [...Map.groupBy(answers.filter(isHash), comparable).values()].toSorted((a, b) => b.length - a.length);
  const [largest = []] = groups;
  const trusted = new Set(largest.map(({ memberId }) => memberId));
  if (trusted.size === answers.length) return { kind: 'agreed' };
  if (trusted.size >= quorumOf(answers.length)) {
    const compactRevision = largest[0]?.compactRevision;
    const isGuilty = (answer: Hashes['answers'][number]) =>
      answer.kind === 'behind' ||
      (answer.kind === 'hash' && answer.compactRevision === compactRevision && !trusted.has(answer.memberId));
    const guilty = answers.filter(isGuilty);
    // A member that does not report its own revision counts at the revision that was asked for.
    const others = answers.flatMap((answer) =>
      trusted.has(answer.memberId) ? [{ memberId: answer.memberId, revision: answer.revision ?? hashes.revision }] : [],
    );
    const ahead = guilty.flatMap(({ memberId, revision }) =>
      revision !== undefined && others.every((other) => other.revision < revision) ? [{ memberId, revision }] : [],
    );
    if (ahead.length > 0) return { kind: 'ahead', ahead, others };
    return { kind: 'majority', trusted, guilty: new Set(guilty.map(({ memberId }) => memberId)), others };
  }
  const revisions = groups.map((group) => group[0]?.compactRevision);
  return new Set(revisions).size < revisions.length
    ? { kind: 'split', groups: groups.map((group) => group.map(({ memberId }) => memberId)) }
    : { kind: 'open' };
}

/** Whether a member's keys differ from those of more than half of all voters. */
export function isConvicted(memberId: string, asked: Asked): boolean {
  const verdict = verdictOf(asked);
  return verdict.kind === 'majority' && verdict.guilty.has(memberId);
}

/**
 * etcd compares itself with the others when it starts, and exits where they differ. That does not say which is wrong:
 * beside a running corrupt member, it is the sound ones that cannot start again.
 */
export function differsFromPeers({ pod }: Pick<Slot, 'pod'>): boolean {
  return (
    pod !== undefined && pod.container.state !== 'running' && /inconsistency with peers/.test(pod.container.lastWords)
  );
}

type Hash = Extract<Hashes['answers'][number], { kind: 'hash' }>;

function isHash(answer: Hashes['answers'][number]): answer is Hash {
  return answer.kind === 'hash';
}

/** Equal data hash to different values after different compactions. */
function comparable({ hash, compactRevision }: Hash): string {
  return `${compactRevision} ${hash}`;
}
