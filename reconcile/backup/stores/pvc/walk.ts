import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BackupFailure } from '../../../jobs/failure.ts';
import { ignoreMissing } from '../../agent/files.ts';

/** Names that are kept at a time, of all directories on the way: some 20 MiB. */
const mostNames = 100_000;

interface Walk {
  readonly root: string;
  readonly prefix: string;
  /** For messages, like `pvc://backups`. */
  readonly place: string;
  readonly signal: AbortSignal;
  readonly most: number;
}

/**
 * The files below `root` whose names begin with `prefix`, by name. Reads directories lazily, and enters none without
 * such names. @throws {BackupFailure} TooMany
 */
export function filesBelow(walk: Omit<Walk, 'most'> & Partial<Pick<Walk, 'most'>>): AsyncGenerator<string> {
  // A prefix may end within a name.
  const start = dirname(`${walk.prefix}x`);
  return below({ most: mostNames, ...walk }, start === '.' ? '' : `${start}/`, 0);
}

/** @param held names that the directories above keep */
async function* below(walk: Walk, directory: string, held: number): AsyncGenerator<string> {
  const names = await namesIn(walk, directory, held);
  for (const name of names) {
    walk.signal.throwIfAborted();
    if (name.endsWith('/')) yield* below(walk, name, held + names.length);
    else yield name;
  }
}

/** Those of directories end with a slash: so sorted, all that is below one comes where its own name would. */
async function namesIn(walk: Walk, directory: string, held: number): Promise<readonly string[]> {
  const names: string[] = [];
  const opened = await opendir(join(walk.root, directory)).catch(ignoreMissing);
  for await (const entry of opened ?? []) {
    const name = nameOf(entry, directory);
    if (name === undefined || !isOnTheWay(name, walk.prefix)) continue;
    names.push(name);
    if (held + names.length > walk.most) throw tooMany(walk);
  }
  return names.toSorted();
}

/** `undefined`: neither file nor directory, as a link that leads elsewhere. */
function nameOf(entry: Dirent, directory: string): string | undefined {
  if (entry.isDirectory()) return `${directory}${entry.name}/`;
  return entry.isFile() ? `${directory}${entry.name}` : undefined;
}

function isOnTheWay(name: string, prefix: string): boolean {
  return name.startsWith(prefix) || (name.endsWith('/') && prefix.startsWith(name));
}

function tooMany({ place, prefix, most }: Walk): BackupFailure {
  return new BackupFailure(
    'TooMany',
    `${place}/${prefix} begins the names of more than ${most} files and directories: give each schedule a prefix of its own`,
  );
}
