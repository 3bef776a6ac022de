import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { copyTree } from '../../mutants/tree.ts';

/** How a command ended in a copy of the checkout. */
export interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** In milliseconds: several of them run beside other tests. */
const patience = 300_000;

/** A copy of the checkout in which these files have these texts. */
export async function copyWith(texts: ReadonlyMap<string, string>) {
  const tree = await copyTree();
  const { directory } = tree;
  await makeFolders([...texts.keys()]);
  for (const [file, content] of texts) await writeFile(join(directory, file), content);
  return {
    directory,
    makeFolders,
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
    run: async (program: string, ...args: readonly string[]): Promise<Ended> => {
      const path = `${join(directory, 'node_modules/.bin')}:${process.env.PATH}`;
      // Of a test that runs this one: the tests in the copy are no part of it.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const options = { cwd: directory, env: { ...env, PATH: path }, timeout: patience } as const;
      const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
      const [said, complained, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
      ]);
      return { code, said: `${said}${complained}` };
    },
  };

  /** Of these files. */
  async function makeFolders(files: readonly string[]): Promise<void> {
    for (const file of files) await mkdir(dirname(join(directory, file)), { recursive: true });
  }
}
