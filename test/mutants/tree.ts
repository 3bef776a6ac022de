import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { transform } from 'esbuild';
import { DoesNotApply, type Mutant, mutated } from './mutant.ts';

const checkout = resolve(import.meta.dirname, '../..');
const left = new Set(['node_modules', '.git', 'dist']);

/** A copy of the checkout as it is now, uncommitted changes included. Mutants are made here, and nowhere else. */
export interface Tree extends AsyncDisposable {
  readonly directory: string;
  /** The mutant, until it is disposed of. @throws {DoesNotApply} */
  readonly mutate: (mutant: Mutant) => Promise<AsyncDisposable>;
}

export async function copyTree(): Promise<Tree> {
  const directory = await mkdtemp(join(tmpdir(), 'mutants-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await cp(checkout, directory, { recursive: true, filter: (source) => !left.has(basename(source)) });
    await symlink(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    directory,
    mutate: async (mutant) => {
      const path = join(directory, mutant.file);
      const source = await read(path);
      const text = mutated(source, mutant);
      await parsed(text);
      await writeFile(path, text);
      return { [Symbol.asyncDispose]: () => writeFile(path, source) };
    },
    [Symbol.asyncDispose]: remove,
  };
}

/** Of the checkout. @throws {DoesNotApply} where there is none. */
export function sourceOf({ file }: Mutant): Promise<string> {
  return read(join(checkout, file));
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new DoesNotApply('its file is not there any more');
    throw error;
  }
}

/** What no program can read would die of that, and prove nothing. */
async function parsed(text: string): Promise<void> {
  try {
    await transform(text, { loader: 'ts', logLevel: 'silent' });
  } catch (error) {
    throw new DoesNotApply(`it makes no TypeScript: ${(error as Error).message.split('\n').slice(0, 2).join(' ')}`);
  }
}
