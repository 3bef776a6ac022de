import { posix } from 'node:path';

/** Where an attempt to restore works: beside etcd's data directory, on the same volume, under names of its own. */
export interface RestorePaths {
  readonly directory: string;
  readonly snapshot: string;
  /** What etcdutl makes. It gets the name of the data directory when it is whole. */
  readonly data: string;
  /** A copy of that, which an etcd serves before anything is given up for it, and its certificates. */
  readonly trial: { readonly directory: string; readonly data: string; readonly tls: string };
}

const prefix = '.restoring-';

export function restorePaths(dataDirectory: string, attempt: number): RestorePaths {
  const directory = posix.join(posix.dirname(dataDirectory), `${prefix}${attempt}`);
  const scratch = posix.join(directory, 'trial');
  const trial = { directory: scratch, data: posix.join(scratch, 'data'), tls: posix.join(scratch, 'tls') };
  return { directory, snapshot: posix.join(directory, 'snapshot.db'), data: posix.join(directory, 'data'), trial };
}

/** The attempt that a directory of this name belongs to, if any. */
export function attemptIn(name: string): number | undefined {
  const [, digits] = /^[.]restoring-(\d{1,9})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Where the data are kept that a recovery went on from: beside etcd's data directory. */
export function keptName(recovery: string): string {
  return `before-recovery-${recovery}`;
}
