import type { Hashes, Membership, Slot } from './observation.ts';
import { quorumOf } from './quorum.ts';

/** What the voters' hashes, all of one revision, say about whose data are right. */
export type Verdict =
  /** Nothing called for a comparison, or nobody could be asked. */
  | { readonly kind: 'unasked' }
  /** All voters hold the same. */
  | { readonly kind: 'agreed' }
  /** More than half of all voters hold the same; who proved to hold something else is guilty, and who proved nothing is neither. */
  | {
      readonly kind: 'majority';
      readonly trusted: ReadonlySet<string>;
      readonly guilty: ReadonlySet<string>;
      readonly others: readonly Reached[];
    }
  /** Who is outvoted holds more than those who outvote it: it may be the only one that has what clients were told is kept. */
  | { readonly kind: 'ahead'; readonly ahead: readonly Reached[]; readonly others: readonly Reached[] }
  /** Voters hold different data, and no majority says who is right. */
  | { readonly kind: 'split'; readonly groups: readonly (readonly string[])[] }
  /** Too few have answered. */
  | { readonly kind: 'open' };

export interface Reached {
  readonly memberId: string;
  readonly revision: bigint;
}

type Asked = { readonly membership: Membership; readonly hashes?: Hashes };

/** IDs of members, not names: who was removed and came back under another ID is somebody else. */
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
    // Of who does not say how far it is, only the revision that was asked for is known.
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

/** Whether a member's keys are not what more than half of all voters agree on. */
export function isConvicted(memberId: string, asked: Asked): boolean {
  const verdict = verdictOf(asked);
  return verdict.kind === 'majority' && verdict.guilty.has(memberId);
}

/**
 * etcd compares itself with the others when it starts, and exits where they differ. That does not tell who is wrong: beside a
 * corrupt member that runs, it is the sound ones that can't be started again.
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

/** Over what different compactions have left, equal data hash to different values. */
function comparable({ hash, compactRevision }: Hash): string {
  return `${compactRevision} ${hash}`;
}
