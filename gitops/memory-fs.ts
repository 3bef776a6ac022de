import type { PromiseFsClient } from 'isomorphic-git';

/**
 * The little of a file system that isomorphic-git needs to read objects out of one pack: a map from path to bytes.
 *
 * In memory, because the pack is bounded anyway, the root file system of our pods is read-only, and nothing has to be
 * cleaned up after a crash. Directories exist by being asked for.
 */
export function memoryFs(): PromiseFsClient {
  const files = new Map<string, Buffer>();

  async function readFile(
    path: string,
    options?: { encoding?: BufferEncoding } | BufferEncoding,
  ): Promise<Buffer | string> {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    const bytes = files.get(path) ?? missing(path);
    return encoding ? bytes.toString(encoding) : bytes;
  }

  async function writeFile(path: string, content: Uint8Array | string): Promise<void> {
    files.set(
      path,
      typeof content === 'string'
        ? Buffer.from(content)
        : Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    );
  }

  async function readdir(path: string): Promise<string[]> {
    const prefix = `${path}/`;
    const below = [...files.keys()].filter((name) => name.startsWith(prefix));
    return [...new Set(below.map((name) => name.slice(prefix.length).split('/')[0] ?? ''))];
  }

  async function stat(path: string) {
    const bytes = files.get(path) ?? missing(path);
    return {
      size: bytes.length,
      mode: 0o100644,
      mtimeMs: 0,
      isFile: () => true,
      isDirectory: () => false,
      isSymbolicLink: () => false,
    };
  }

  async function unlink(path: string): Promise<void> {
    files.delete(path);
  }

  async function nothing(): Promise<void> {}

  async function readlink(path: string): Promise<never> {
    return missing(path);
  }

  return {
    promises: {
      readFile,
      writeFile,
      readdir,
      stat,
      lstat: stat,
      unlink,
      readlink,
      mkdir: nothing,
      rmdir: nothing,
      symlink: nothing,
    },
  };
}

/** Thrown once per object that is read (it is looked for outside of the pack first), so without the cost of a stack. */
function missing(path: string): never {
  throw Object.assign(Object.create(Error.prototype), { message: `${path} does not exist`, code: 'ENOENT' });
}
