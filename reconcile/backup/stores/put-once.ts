import { BackupFailure } from '../../jobs/failure.ts';
import type { StoredObject } from './store.ts';

interface Put {
  /** For messages: the object's whole name. */
  readonly at: string;
  /** By which an upload whose answer was lost knows its own object. */
  readonly nonce: string;
  readonly details: () => Promise<{ readonly object: StoredObject; readonly nonce: string | undefined } | undefined>;
  /** Makes the object if its name is free. */
  readonly upload: () => Promise<void>;
}

/** @throws {BackupFailure} Exists, unless what exists is our own; Changed */
export async function putOnce({ at, nonce, details, upload }: Put): Promise<StoredObject> {
  // Some stores pass over the precondition of an upload: there, this is what keeps an object.
  if ((await details()) !== undefined) throw existsAlready(at);
  try {
    await upload();
  } catch (error) {
    // The answer to our own last request may have been lost, and the next one says that the name is taken.
    const taken = error instanceof BackupFailure && error.reason === 'Exists' ? await details() : undefined;
    if (taken === undefined || taken.nonce !== nonce) throw error;
  }
  const stored = await details();
  if (stored?.nonce === nonce) return stored.object;
  throw new BackupFailure(
    'Changed',
    `${at} was deleted or replaced as soon as it was stored: look at what else writes there`,
  );
}

export function existsAlready(at: string): BackupFailure {
  return new BackupFailure(
    'Exists',
    `${at} exists already, and a backup replaces nothing: choose another name, as by {{timestamp}}`,
  );
}
