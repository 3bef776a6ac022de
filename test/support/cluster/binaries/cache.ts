import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Wanted } from './catalogue.ts';

/** Go's word for this machine's architecture, which release files and the cache use. */
export function goArch(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

/** `$XDG_CACHE_HOME` or `~/.cache`, then `etcd-ratchet`. The XDG rule: a relative path is to be ignored. */
export function cacheDirectory(environment: NodeJS.ProcessEnv): string {
  const xdg = environment.XDG_CACHE_HOME;
  return join(xdg?.startsWith('/') ? xdg : join(environment.HOME ?? homedir(), '.cache'), 'etcd-ratchet');
}

export function cachePath(directory: string, wanted: Wanted): string {
  return join(directory, `${wanted.name}-${wanted.version}-${process.platform}-${goArch()}`);
}

/** A file under its final name is whole: it got there by rename. So being executable is all there is to check. */
export async function cached(directory: string, wanted: Wanted): Promise<string | undefined> {
  const path = cachePath(directory, wanted);
  return (await isExecutable(path)) ? path : undefined;
}

/**
 * Lets `make` write files into a directory of its own beside `paths`, and moves them there when they are whole.
 *
 * The caller holds the locks for `paths`: whatever an interrupted run left beside them belongs to nobody any more. The
 * name is new each time all the same: a compiler that outlived its run may still be writing to the old one.
 *
 * @param make resolves with the file for each path
 */
export async function install(
  paths: readonly string[],
  make: (directory: string) => Promise<readonly string[]>,
): Promise<void> {
  for (const path of paths) await removeLeftovers(path);
  const temporary = await mkdtemp(`${paths[0]}.partial-`);
  try {
    const files = await make(temporary);
    for (const [index, path] of paths.entries()) {
      const file = files[index] ?? '';
      await chmod(file, 0o755);
      await rename(file, path);
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function removeLeftovers(path: string): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true });
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(path)}.partial-`)) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
