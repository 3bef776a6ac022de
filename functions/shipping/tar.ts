import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file, or without content a directory. */
export interface Entry {
  readonly path: string;
  readonly content?: Uint8Array;
  /** By default 0644, and 0755 of a directory. */
  readonly mode?: number;
}

const block = 512;
/** As npm writes it: some programs refuse the year 1970. */
const modified = Date.UTC(1985, 9, 26, 8, 15) / 1000;

/**
 * An archive in the format of POSIX (ustar) that is made of nothing but its entries: sorted, of root, without the time.
 * @throws where a path is too long for the format, or there twice
 */
export function tarOf(entries: readonly Entry[]): Buffer {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const twice = sorted.find(({ path }, i) => sorted[i - 1]?.path === path);
  if (twice) throw new Error(`${twice.path} is in the archive twice`);
  const parts = sorted.flatMap((entry) => {
    const { content = new Uint8Array(0) } = entry;
    return [headerOf(entry), content, Buffer.alloc(-content.length & (block - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
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

function headerOf({ path, content, mode = content ? 0o644 : 0o755 }: Entry): Buffer {
  const { name, prefix } = halvesOf(path);
  const header = Buffer.alloc(block);
  header.write(name, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content?.length ?? 0, 12), 124);
  header.write(octal(modified, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write(content ? '0' : '5', 156);
  header.write('ustar\u000000', 257);
  header.write(octal(0, 8), 329);
  header.write(octal(0, 8), 337);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

/** A path of more than 100 bytes is split at a slash. */
function halvesOf(path: string): { readonly name: string; readonly prefix: string } {
  const bytes = Buffer.byteLength(path);
  if (bytes <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100 && name !== '') return { name, prefix };
  }
  throw new Error(`${path} has ${bytes} bytes: too long for a tar archive`);
}

function octal(value: number, width: number): string {
  const text = value.toString(8).padStart(width - 1, '0');
  if (text.length >= width) throw new Error(`${value} is too large for a tar archive`);
  return text;
}
