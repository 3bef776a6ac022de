import type { PromiseFsClient } from 'isomorphic-git';

/**
 * The part of a file system that isomorphic-git needs to read packs: a map from path to bytes. Packs are bounded, our
 * root file system is read-only, and nothing is left to clean up. Directories exist by being asked for.
 */
export function memoryFs(files: ReadonlyMap<string, Buffer>): PromiseFsClient {
  async function readFile(
    path: string,
    options?: { encoding?: BufferEncoding } | BufferEncoding,
  ): Promise<Buffer | ArrayBufferLike | string> {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    const bytes = files.get(path) ?? missing(path);
    if (encoding) return bytes.toString(encoding);
    // isomorphic-git copies a Buffer, and a pack may have a quarter of a gigabyte; what is under it is taken as it is.
    return bytes.length === bytes.buffer.byteLength ? bytes.buffer : bytes;
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

  async function readlink(path: string): Promise<never> {
    return missing(path);
  }

  async function readOnly(path: string): Promise<never> {
    throw Object.assign(new Error(`${path} cannot be changed`), { code: 'EROFS' });
  }

  return {
    promises: {
      readFile,
      readdir,
      stat,
      lstat: stat,
      readlink,
      writeFile: readOnly,
      unlink: readOnly,
      mkdir: readOnly,
      rmdir: readOnly,
      symlink: readOnly,
    },
  };
}

/** Thrown once per object that is read (it is looked for outside of the pack first), so without the cost of a stack. */
function missing(path: string): never {
  throw Object.assign(Object.create(Error.prototype), { message: `${path} does not exist`, code: 'ENOENT' });
}
