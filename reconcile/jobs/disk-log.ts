import { isEtcdId } from '../../manifests/api/identifiers.ts';
import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { jsonIn } from '../../manifests/json.ts';

/** The log on a member's disk, whether or not an etcd runs on it. */
export interface DiskLog {
  /** Whose log it is. */
  readonly clusterId: string;
  readonly memberId: string;
  /** HardState: up to `commit` it knows the log to be committed. */
  readonly term: bigint;
  readonly vote: bigint;
  readonly commit: bigint;
  /** Of the last entry. */
  readonly lastTerm: bigint;
  readonly lastIndex: bigint;
  /** Of the database: up to here it has applied the log, which may be beyond `commit`. */
  readonly consistentIndex: bigint;
}

/** The message names the file. */
export class LogUnreadable extends Error {
  override readonly name = 'LogUnreadable';
}

const numbers = ['term', 'vote', 'commit', 'lastTerm', 'lastIndex', 'consistentIndex'] as const;

/** As a termination message. JSON has no numbers of 64 bits: they are in decimal. */
export function diskLogText(log: DiskLog): string {
  return JSON.stringify({ log }, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

export function unreadableText(why: string): string {
  return JSON.stringify({ unreadable: why.slice(0, longest) });
}

/** Of a message, in characters. */
const longest = 500;

/** From a termination message, which any program in the container may write. `undefined`: it is none of ours. */
export function diskLogIn(text: string): DiskLog | { readonly unreadable: string } | undefined {
  const value = jsonIn(text);
  if (!isPlainObject(value)) return undefined;
  const { log, unreadable } = value;
  if (typeof unreadable === 'string')
    return { unreadable: unreadable.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, longest) };
  if (!isPlainObject(log)) return undefined;
  const { clusterId, memberId } = log;
  if (typeof clusterId !== 'string' || typeof memberId !== 'string') return undefined;
  if (!isEtcdId(clusterId) || !isEtcdId(memberId)) return undefined;
  const [term, vote, commit, lastTerm, lastIndex, consistentIndex] = numbers.map((name) => numberIn(log[name]));
  if (term === undefined || vote === undefined || commit === undefined) return undefined;
  if (lastTerm === undefined || lastIndex === undefined || consistentIndex === undefined) return undefined;
  return { clusterId, memberId, term, vote, commit, lastTerm, lastIndex, consistentIndex };
}

function numberIn(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(value) ? BigInt(value) : undefined;
}
