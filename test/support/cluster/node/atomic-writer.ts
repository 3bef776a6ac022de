import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type FileContent = { readonly content: Buffer; readonly mode: number };
/** Path relative to the volume → content. */
export type Payload = ReadonlyMap<string, FileContent>;

/**
 * Makes a volume's directory show exactly `payload`, all at once (kubelet: pkg/volume/util/atomic_writer.go): the files
 * are in a directory of their own, `..data` points to it, and each visible name points through `..data`. A reader sees
 * the old set or the new one.
 */
export async function writePayload(directory: string, payload: Payload): Promise<void> {
  await mkdir(directory, { recursive: true });
  const current = await readlink(join(directory, '..data')).catch(() => undefined);
  if (current !== undefined && (await isSame(join(directory, current), payload))) return;

  const next = `..${new Date().toISOString().replaceAll(/[:T-]/g, '_')}.${Math.floor(Math.random() * 1e9)}`;
  for (const [path, { content, mode }] of payload) {
    const file = join(directory, next, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode });
  }
  await mkdir(join(directory, next), { recursive: true });
  await symlink(next, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  await showNames(directory, new Set([...payload.keys()].map((path) => path.split('/')[0] ?? path)));
  if (current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
}

async function showNames(directory: string, names: ReadonlySet<string>): Promise<void> {
  const shown = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  for (const name of shown) if (!names.has(name)) await rm(join(directory, name));
  for (const name of names) if (!shown.includes(name)) await symlink(join('..data', name), join(directory, name));
}

async function isSame(directory: string, payload: Payload): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  if (entries.filter((entry) => entry.isFile()).length !== payload.size) return false;
  for (const [path, { content }] of payload) {
    const present = await readFile(join(directory, path)).catch(() => undefined);
    if (!present?.equals(content)) return false;
  }
  return true;
}
