import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../agent/files.ts';

/** Keys of a mounted Secret, without the line breaks that people leave at their ends; absent ones are `undefined`. */
export async function readSecret<K extends string>(
  directory: string,
  keys: readonly K[],
): Promise<Readonly<Partial<Record<K, string>>>> {
  const read = keys.map(async (key) => {
    const text = await readFile(join(directory, key), 'utf8').catch(ignoreMissing);
    return [key, text?.trim()] as const;
  });
  return Object.fromEntries(await Promise.all(read)) as Partial<Record<K, string>>;
}
