import { access, chmod, constants, mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Wanted } from './catalogue.ts';

/** Go's word for this machine's architecture, which release files and the cache use. */
export function goArch(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

/** `$XDG_CACHE_HOME` or `~/.cache`, then `etcd-ratchet`. The XDG rule: a relative path is to be ignored. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const xdg = environment.XDG_CACHE_HOME;
  return join(xdg?.startsWith('/') ? xdg : join(homedir(), '.cache'), 'etcd-ratchet');
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
 * Lets `make` write a file beside its final place and moves it there when it is whole.
 *
 * The temporary name is fixed per binary, because the caller holds that binary's lock: what an interrupted run left
 * there is overwritten, and does not pile up.
 */
export async function install(
  directory: string,
  wanted: Wanted,
  make: (temporary: string) => Promise<void>,
): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = cachePath(directory, wanted);
  const temporary = `${path}.partial`;
  try {
    await rm(temporary, { force: true });
    await make(temporary);
    await chmod(temporary, 0o755);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return path;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
