import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Informer } from './informer.ts';
import type { Claim, PersistentVolume } from './wire.ts';

export type VolumeFaults = {
  /** Empties the PVC's volume, under whatever uses it. */
  wipeVolume(namespace: string, claim: string): Promise<void>;
  /** Overwrites the middle of each of the volume's files (or those whose path contains `part`); says how many. */
  corruptVolume(namespace: string, claim: string, part?: string): Promise<number>;
  /**
   * Puts other text of the same length in the place of what is found in those of the volume's files whose path contains
   * `part`, under whatever uses it, as a disk does that lies: nothing else of the file changes. Says how often it was
   * found.
   */
  alterVolume(namespace: string, claim: string, part: string, found: string, other: string): Promise<number>;
};

/** What can go wrong with what is on a volume, whatever node it is on: volumes are directories of this machine. */
export function createVolumeFaults({
  claims,
  persistentVolumes,
}: {
  readonly claims: Informer<Claim>;
  readonly persistentVolumes: Informer<PersistentVolume>;
}): VolumeFaults {
  function volumePath(namespace: string, name: string): string {
    const volume = persistentVolumes.get(claims.get(`${namespace}/${name}`)?.spec?.volumeName ?? '');
    const path = volume?.spec?.local?.path;
    if (path === undefined) throw new Error(`claim ${namespace}/${name} has no volume`);
    return path;
  }

  async function filesOf(namespace: string, claim: string, part = ''): Promise<string[]> {
    const path = volumePath(namespace, claim);
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files.filter((file) => file.slice(path.length).includes(part));
  }

  return {
    wipeVolume: async (namespace, claim) => {
      const path = volumePath(namespace, claim);
      for (const entry of await readdir(path)) await rm(join(path, entry), { recursive: true, force: true });
    },
    corruptVolume: async (namespace, claim, part) => {
      const changed = await Promise.all((await filesOf(namespace, claim, part)).map(corrupt));
      return changed.filter(Boolean).length;
    },
    alterVolume: async (namespace, claim, part, found, other) => {
      const [before, after] = [Buffer.from(found), Buffer.from(other)];
      if (before.length !== after.length) throw new Error('what is put in its place must be as long');
      const changes = await Promise.all(
        (await filesOf(namespace, claim, part)).map((file) => alter(file, before, after)),
      );
      return changes.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Whether there was anything to spoil. */
async function corrupt(file: string): Promise<boolean> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const length = Math.min(4096, size);
    const garbage = Buffer.alloc(length, 0xa5);
    await handle.write(garbage, 0, length, Math.floor((size - length) / 2));
    return true;
  } finally {
    await handle.close();
  }
}

async function alter(file: string, before: Buffer, after: Buffer): Promise<number> {
  const handle = await open(file, 'r+');
  try {
    const content = await handle.readFile();
    let count = 0;
    for (let at = content.indexOf(before); at >= 0; at = content.indexOf(before, at + before.length)) {
      await handle.write(after, 0, after.length, at);
      count += 1;
    }
    return count;
  } finally {
    await handle.close();
  }
}
