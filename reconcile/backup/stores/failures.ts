import { BackupFailure } from '../../jobs/failure.ts';
import { timestamp } from '../../time/timestamp.ts';
import type { StoredObject } from './store.ts';
import { networkFailure } from './transfer.ts';

/** One call to a store, and the status and code of its answer, as far as there was one. */
export interface StoreCall {
  readonly place: string;
  readonly name: string;
  readonly call: 'put' | 'read' | 'list' | 'stat' | 'delete';
}

export interface Answered extends StoreCall {
  readonly status: number | undefined;
  readonly code: string;
}

export type Failed = (reason: BackupFailure['reason'], what: string, cure: string) => BackupFailure;

/** A store's own codes, before what HTTP says in every store; and its cures. */
export interface OwnFailures {
  readonly own: (failed: Failed) => BackupFailure | undefined;
  readonly forbidden: string;
  readonly refused: string;
}

/** Classified once. Without the client's error as cause: the request with its credentials hangs on it. */
export function storeFailure(
  error: unknown,
  { place, name, call, status, code }: Answered,
  { own, forbidden, refused }: OwnFailures,
): unknown {
  if (error instanceof BackupFailure) return error;
  const failed: Failed = (reason, what, cure) =>
    new BackupFailure(
      reason,
      `${place}/${name}: ${what} (${[status, code].filter(Boolean).join(', ')}): ${cure}`,
      status,
    );
  const found = own(failed);
  if (found) return found;
  if (status === undefined) return networkFailure(error, place) ?? brokenOff(failed);
  if (status === 412) return failed('Changed', 'it was replaced meanwhile', 'look at what else writes there');
  if (status === 401 || status === 403) return failed('Forbidden', `the store refuses to ${call}`, forbidden);
  if (status === 408 || status === 429 || status >= 500) return failing(failed, call);
  if (status >= 300 && status < 400) return sentOn(failed);
  if (status >= 400) return failed('StoreRefused', `the store refuses to ${call}`, refused);
  return networkFailure(error, place) ?? brokenOff(failed);
}

/** No redirect is followed, so an answer of 3xx ends a call. */
function sentOn(failed: Failed): BackupFailure {
  return failed('StoreRefused', 'the store sends us elsewhere', 'name the host itself as its endpoint');
}

export function failing(failed: Failed, call: StoreCall['call']): BackupFailure {
  return failed('Unreachable', `the store fails to ${call}, again and again`, 'try again later');
}

function brokenOff(failed: Failed): BackupFailure {
  return failed('Unreachable', 'the transfer broke off', 'try again');
}

export function isTaken(failed: Failed): BackupFailure {
  return failed(
    'Exists',
    'it exists already, and a backup replaces nothing',
    'choose another name, as by {{timestamp}}',
  );
}

export function notThere(failed: Failed): BackupFailure {
  return failed('NotFound', 'it is not there', 'look for its name in the status of the backup');
}

/** Of an object that was looked for before it is read. */
export function missing(at: string): BackupFailure {
  return new BackupFailure('NotFound', `there is no ${at}: look for its name in the status of the backup`);
}

/** Of an object that was looked for before it is deleted. */
export function replaced(at: string): BackupFailure {
  return new BackupFailure('Changed', `${at} is not deleted: it was replaced since it was listed`);
}

/** Of an object that the store itself protects. */
export function locked(at: string, until?: Date | 'held'): BackupFailure {
  const how =
    until === 'held'
      ? 'a person holds it there'
      : until
        ? `it is locked until ${timestamp(until)}`
        : 'a lock protects it';
  return new BackupFailure(
    'Locked',
    `${at} is not deleted: ${how}: nothing is to be done, retention deletes it once the store lets it`,
  );
}

export function isLocked({ lockedUntil }: Pick<StoredObject, 'lockedUntil'>, now: Date): boolean {
  return lockedUntil === 'held' || (lockedUntil !== undefined && lockedUntil > now);
}

/** A list of codes in words: most would take a line each. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
