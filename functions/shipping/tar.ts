import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packTar } from 'modern-tar';

/** A file, or without content a directory. */
export interface Entry {
  readonly path: string;
  readonly content?: Uint8Array;
  /** By default 0644, and 0755 of a directory. */
  readonly mode?: number;
}

/** As npm writes it: some programs refuse the year 1970. */
const mtime = new Date(Date.UTC(1985, 9, 26, 8, 15));

/**
 * An archive in the format of POSIX (ustar) that is made of nothing but its entries: sorted, of root, without the time.
 * @throws where a path is there twice
 */
export async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const twice = sorted.find(({ path }, i) => sorted[i - 1]?.path === path);
  if (twice) throw new Error(`${twice.path} is in the archive twice`);
  const packed = await packTar(
    sorted.map(({ path, content, mode = content ? 0o644 : 0o755 }) => ({
      header: {
        ...{ name: path, mode, mtime, uid: 0, gid: 0, uname: '', gname: '' },
        size: content?.length ?? 0,
        type: content ? 'file' : 'directory',
      },
      body: content,
    })),
  );
  return Buffer.from(packed.buffer, packed.byteOffset, packed.length);
}

/** The files and directories below a directory, under `at`. Of a mode it keeps whether a file may be executed. */
export async function entriesBelow(directory: string, at = ''): Promise<readonly Entry[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const entries = names.map(async (one): Promise<Entry> => {
    const file = join(one.parentPath, one.name);
    const path = `${at}${file.slice(directory.length + 1)}`;
    if (one.isDirectory()) return { path: `${path}/` };
    if (!one.isFile()) throw new Error(`${file} is neither a file nor a directory`);
    const { mode } = await stat(file);
    return { path, content: await readFile(file), mode: mode & 0o100 ? 0o755 : 0o644 };
  });
  return await Promise.all(entries);
}
