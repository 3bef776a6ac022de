import { existsSync, globSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Names the cgroup that a sandbox with root's rights may make, in each hierarchy: cgroups outlive namespaces. */
export const cgroupVariable = 'RATCHET_CGROUP';

const attempts = 20;

/** With all that are below it. @throws when a process that outlived its sandbox is still in one after some seconds. */
export async function removeCgroups(name: string): Promise<void> {
  const left = () => globSync([`/sys/fs/cgroup/${name}`, `/sys/fs/cgroup/*/${name}`]);
  for (let attempt = 1; left().length > 0; attempt++) {
    for (const directory of left()) {
      const error = await removeFrom(directory);
      if (error !== undefined && attempt === attempts) throw error;
    }
    // The kernel takes a moment to take the last process out of its cgroup.
    if (left().length > 0) await delay(200);
  }
}

async function removeFrom(directory: string): Promise<unknown> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    for (const entry of entries.filter((one) => one.isDirectory())) {
      const error = await removeFrom(join(directory, entry.name));
      if (error !== undefined) return error;
    }
    await rmdir(directory);
    return undefined;
  } catch (error) {
    // Another process may remove them at the same time.
    return existsSync(directory) ? error : undefined;
  }
}
