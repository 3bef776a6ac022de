import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { jsonIn } from '../../manifests/json.ts';
/**
 * Every failure of the agent in one word: a closed table, because the controller reads the word, never the sentence.
 * `retry`: the same request may succeed later. `defect`: the data are not a sound snapshot.
 */
export const failures = {
  InvalidRequest: 'request',
  Unreachable: 'retry',
  Stalled: 'retry',
  Deadline: 'retry',
  Stopped: 'retry',
  NoQuorum: 'retry',
  OnlyLearners: 'person',
  AnotherCluster: 'person',
  Corrupt: 'person',
  EtcdRefused: 'retry',
  CompactedMeanwhile: 'retry',
  Forbidden: 'person',
  PlainHttpRefused: 'person',
  HostRefused: 'person',
  ImageRefused: 'person',
  NotTrusted: 'person',
  NoSuchBucket: 'person',
  WrongRegion: 'person',
  Full: 'person',
  Exists: 'person',
  NotFound: 'person',
  Changed: 'person',
  StoreRefused: 'person',
  Locked: 'retry',
  TooMany: 'person',
  TornSnapshot: 'retry',
  BadTrailer: 'defect',
  WrongDigest: 'defect',
  WrongRevision: 'defect',
  NotASnapshot: 'defect',
  NoKey: 'person',
  CannotDecrypt: 'defect',
  NotRestorable: 'defect',
  Mismatch: 'defect',
  NewerVersion: 'person',
  RevisionTooHigh: 'person',
  DataPresent: 'person',
  NoRoomForTrial: 'person',
  NoRoomForCopy: 'person',
  NoData: 'person',
  NotServed: 'person',
  TrialFailed: 'person',
  Superseded: 'request',
  NodeTooOld: 'person',
  Unexpected: 'retry',
} as const satisfies Record<string, 'request' | 'retry' | 'person' | 'defect'>;

export type FailureReason = keyof typeof failures;

/** Exit codes of the agent. The termination message says the same in words. */
export const exitCodes = { done: 0, retry: 1, request: 2, person: 3, defect: 4 } as const;

/** The message: what is, what it means, what to do. It never holds a credential or a key. */
export class BackupFailure extends Error {
  override readonly name = 'BackupFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export function exitCodeOf(reason: FailureReason): number {
  return exitCodes[failures[reason]];
}

/** What the agent says of its failure. */
export interface ToldFailure {
  readonly reason: FailureReason;
  readonly message: string;
}

/** So much of a message is shown, in characters. */
const longest = 1_000;

/** From a termination message, which any program in the container may write. `undefined`: no failure of the agent. */
export function toldFailure(text: string): ToldFailure | undefined {
  const value = jsonIn(text);
  if (!isPlainObject(value) || value.ok !== false) return undefined;
  const { reason, message } = value;
  if (typeof reason !== 'string' || typeof message !== 'string' || !isReason(reason)) return undefined;
  return {
    reason,
    message: message
      .replaceAll(/\p{C}+/gu, ' ')
      .trim()
      .slice(0, longest),
  };
}

function isReason(word: string): word is FailureReason {
  return Object.hasOwn(failures, word);
}
