import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, lstat, mkdir, readdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BackupFailure } from '../../../jobs/failure.ts';
import { flushDirectory, ignoreMissing, readPieces, writeFlushed } from '../../agent/files.ts';
import type { Store, StoredObject, StoreOptions } from '../store.ts';
import { filesBelow } from './walk.ts';

/** Beside the file that it becomes; a name that no template can give. */
const partial = '.partial-';

/**
 * A directory, as of a mounted PVC. A file gets its name by link(2), which fails if the name is taken: rename(2) would
 * replace the file.
 * @param place for messages, like `pvc://backups`
 */
export function openDirectory(root: string, place: string): Store {
  return { place, put, read, list, stat, delete: remove, close: () => undefined };

  async function put(name: string, body: AsyncIterable<Uint8Array>, { signal }: StoreOptions): Promise<StoredObject> {
    const path = join(root, name);
    const temporary = `${path}${partial}${randomBytes(4).toString('hex')}`;
    try {
      await mkdir(dirname(path), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
        // A file in place of a directory is not the object.
        throw error.code === 'EEXIST' ? Object.assign(error, { code: 'ENOTDIR' }) : error;
      });
      await sweep(dirname(path));
      // Said before all is written, not after; the link at the end is what decides.
      if ((await found(path)) !== undefined) throw exists(name);
      await writeFlushed(temporary, body, { signal, mode: 0o640 });
      await link(temporary, path).catch(withoutLinks);
      for (let directory = dirname(path); directory.length >= root.length; directory = dirname(directory))
        await flushDirectory(directory);
    } catch (error) {
      throw failureOf(error, name);
    } finally {
      await unlink(temporary).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
      });
    }
    const stored = await stat(name);
    if (stored === undefined)
      throw new BackupFailure('Changed', `${place}/${name} went away as soon as it was written`);
    return stored;
  }

  async function* read(name: string, { signal }: StoreOptions): AsyncGenerator<Uint8Array> {
    try {
      yield* readPieces(join(root, name), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, name);
    }
  }

  async function* list(prefix: string, { signal }: StoreOptions): AsyncGenerator<StoredObject> {
    try {
      for await (const name of filesBelow({ root, prefix, place, signal })) {
        const stored = name.includes(partial) ? undefined : await stat(name);
        if (stored !== undefined) yield stored;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, prefix);
    }
  }

  async function stat(name: string): Promise<StoredObject | undefined> {
    try {
      const stats = await found(join(root, name));
      return stats?.isFile()
        ? { name, bytes: stats.size, version: versionOf(stats), modifiedAt: stats.mtime }
        : undefined;
    } catch (error) {
      throw failureOf(error, name);
    }
  }

  async function remove({ name, version }: Pick<StoredObject, 'name' | 'version'>): Promise<void> {
    const stored = await stat(name);
    if (stored === undefined) return;
    if (stored.version !== version)
      throw new BackupFailure('Changed', `${place}/${name} is not deleted: it was replaced since it was listed`);
    await unlink(join(root, name)).catch((error: unknown) => {
      throw failureOf(error, name);
    });
  }

  /** Some network file systems have no hard links, and there is no other way to take a name that is free. */
  function withoutLinks(error: NodeJS.ErrnoException): never {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')) throw error;
    const cure = 'use a volume with hard links (ext4, xfs, NFS), or an object store';
    throw new BackupFailure(
      'StoreRefused',
      `the file system of ${place} makes no hard links (${error.code}): ${cure}`,
      error,
    );
  }

  function exists(name: string): BackupFailure {
    return new BackupFailure(
      'Exists',
      `${place}/${name} exists already, and a backup replaces nothing: choose another name, as by {{timestamp}}`,
    );
  }

  function failureOf(error: unknown, name: string): unknown {
    if (error instanceof BackupFailure) return error;
    const { code } = Object(error) as NodeJS.ErrnoException;
    const at = `${place}/${name}`;
    if (code === 'EEXIST') return exists(name);
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return new BackupFailure(
        'Full',
        `there is no room for ${at}: grow the PersistentVolumeClaim, or delete old backups`,
        error,
      );
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
      return new BackupFailure(
        'Forbidden',
        `${at} can't be written or read (${code}): set fsGroup to a group that may, and mount the volume writable`,
        error,
      );
    if (code === 'ENOENT')
      return new BackupFailure('NotFound', `there is no ${at}: look for its name in the status of the backup`, error);
    if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'ENAMETOOLONG')
      return new BackupFailure('StoreRefused', `${at} can't be a file (${code}): choose another path`, error);
    if (code === 'EIO' || code === 'ESTALE')
      return new BackupFailure(
        'Unreachable',
        `the volume of ${at} fails (${code}): look at its node and its PersistentVolume`,
        error,
      );
    return error;
  }
}

/** What killed agents left: no upload takes a day. */
async function sweep(directory: string): Promise<void> {
  for (const name of (await readdir(directory)).filter((one) => one.includes(partial))) {
    const path = join(directory, name);
    const stats = await found(path);
    if (stats !== undefined && Date.now() - stats.mtimeMs > 24 * 3600_000) await unlink(path).catch(ignoreMissing);
  }
}

async function found(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(ignoreMissing);
}

function versionOf({ ino, size, mtimeMs, birthtimeMs }: Stats): string {
  return [ino, size, mtimeMs, birthtimeMs].join('-');
}
