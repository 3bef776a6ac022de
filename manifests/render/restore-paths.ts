import { posix } from 'node:path';

/** Where an attempt to restore works: beside etcd's data directory, on the same volume, under names of its own. */
export interface RestorePaths {
  readonly directory: string;
  readonly snapshot: string;
  /** What etcdutl makes. It gets the name of the data directory when it is whole. */
  readonly data: string;
}

const prefix = '.restoring-';

export function restorePaths(dataDirectory: string, attempt: number): RestorePaths {
  const directory = posix.join(posix.dirname(dataDirectory), `${prefix}${attempt}`);
  return { directory, snapshot: posix.join(directory, 'snapshot.db'), data: posix.join(directory, 'data') };
}

/** The attempt that a directory of this name belongs to, if any. */
export function attemptIn(name: string): number | undefined {
  const [, digits] = /^[.]restoring-(\d{1,9})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
