import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { SourceChange } from './catalogue.ts';
import { ProvisionError } from './error.ts';
import { sourceOf } from './source.ts';

/**
 * The flags with which `go build` takes a copy of one module, in which one place reads otherwise. The copy lies in the
 * directory.
 *
 * @throws {ProvisionError} where the place is not there, or not once
 */
export async function flagsOfChange(
  pinnedBy: string,
  { goModule, file, from, to }: SourceChange,
  directory: string,
): Promise<readonly string[]> {
  const copy = join(directory, 'changed');
  await copyContent(await sourceOf(pinnedBy, goModule), copy);
  const path = join(copy, file);
  const [before, after, ...more] = (await readFile(path, 'utf8')).split(from);
  if (after === undefined || more.length > 0)
    throw new ProvisionError(`${goModule}/${file} is not as it was when its change was written`, 'write it anew');
  await writeFile(path, `${before}${to}${after}`);
  const pinned = resolve(import.meta.dirname, pinnedBy);
  const modfile = join(directory, 'changed.mod');
  await writeFile(modfile, await readFile(join(pinned, 'go.mod')));
  await writeFile(join(directory, 'changed.sum'), await readFile(join(pinned, 'go.sum')));
  await appendFile(modfile, `\nreplace ${goModule} => ${copy}\n`);
  return [`-modfile=${modfile}`];
}

/** Without modes: what Go keeps of modules is read-only, and this is changed, and removed. */
async function copyContent(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(to, relative(from, source));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, await readFile(source));
  }
}
