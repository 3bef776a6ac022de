import { git } from '../support/git/git.ts';
import { clusterYaml } from './stage.ts';

export interface Layout {
  readonly files: number;
  readonly commits: number;
  /** Of the files, so many are specs, one each, under `clusters/prod`. */
  readonly specs: number;
}

/** As long as a source file that people write is on average, give or take. */
const fileBytes = 3_000;

/**
 * Fills a bare repository like a monorepo's: files in folders of 100, of which each commit after the first changes one.
 * Written by `git fast-import`, then packed as a forge does it from time to time.
 */
export async function fillRepository(directory: string, { files, commits, specs }: Layout): Promise<void> {
  const stream: string[] = [];
  const random = numbers(4711);
  const text = (path: string) => {
    const lines = [`# ${path}`];
    for (let size = 0; size < fileBytes; size += lines.at(-1)?.length ?? 1)
      lines.push(`const ${word(random)} = ${word(random)}(${Math.floor(random() * 1e9)}, '${word(random)}');`);
    return `${lines.join('\n')}\n`;
  };
  const put = (path: string, content: string) =>
    stream.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`);
  const paths = Array.from({ length: files - specs }, (_, n) => `src/part-${Math.floor(n / 100)}/file-${n % 100}.ts`);

  commit(0);
  for (let n = 0; n < specs; n++) put(specPath(n), clusterYaml(`bench-${n}`, 3));
  for (const path of paths) put(path, text(path));
  for (let n = 1; n < commits; n++) {
    commit(n);
    const path = paths[Math.floor(random() * paths.length)] ?? 'README';
    put(path, text(path));
  }
  await git(directory, ['fast-import', '--quiet'], Buffer.from(stream.join('')));
  await git(directory, ['gc', '--quiet']);

  function commit(n: number): void {
    const message = `Change ${n}`;
    stream.push(
      `commit refs/heads/main\ncommitter Ada <ada@example.com> ${1_700_000_000 + n} +0000\ndata ${message.length}\n${message}\n`,
    );
  }
}

export function specPath(n: number): string {
  return `clusters/prod/team-${Math.floor(n / 50)}/bench-${n}.yaml`;
}

/** Reproducible, so that every run packs the same bytes. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function word(random: () => number): string {
  return Math.floor(random() * 36 ** 4).toString(36);
}
