import { execFile } from 'node:child_process';
import type { Block } from '../../support/docs/blocks.ts';

/**
 * Types every command of the pages into one shell, as their reader does, and compares what it prints with what the
 * pages say.
 *
 * @throws naming the page and line of the first block whose commands fail, or that does not print what the page says.
 */
export async function follow(
  blocks: readonly Block[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const commands = blocks.filter(({ kind }) => kind === 'sh');
  const { code, stdout, stderr } = await typed(commands, options);
  const printed = stdout.split(mark);
  if (code !== 0) {
    const failed = commands[printed.length - 1];
    const last = printed.at(-1)?.slice(-1500);
    throw new Error(`${failed?.page}:${failed?.line}: exit code ${code}\n${last}\n${stderr.slice(-1500)}`);
  }
  let at = -1;
  for (const block of blocks) {
    if (block.kind === 'sh') at += 1;
    else if (block.kind === 'text') assertSays(block, printed[at] ?? '');
  }
}

const mark = '\n@@ the next block @@\n';

function typed(
  commands: readonly Block[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const end = `printf '${mark.replaceAll('\n', '\\n')}'\n`;
  const script = `set -euo pipefail\n${commands.map(({ text }) => `${text}${end}`).join('')}`;
  return new Promise((resolve) => {
    const limits = { timeout: 15 * 60_000, maxBuffer: 16 * 1024 * 1024 };
    execFile('bash', ['-c', script], { cwd, env, ...limits }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

/** `…` in a page stands for anything within a line; blanks are all alike. */
export function assertSays({ page, line, text }: Block, printed: string): void {
  const lines = printed.split('\n').map((one) => one.trim().replaceAll(/\s+/g, ' '));
  for (const [offset, wanted] of text.trimEnd().split('\n').entries()) {
    const parts = wanted.trim().replaceAll(/\s+/g, ' ').split(/ ?… ?/);
    const pattern = new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);
    if (!lines.some((one) => pattern.test(one)))
      throw new Error(`${page}:${line + offset}: no line is like "${wanted}" in:\n${printed.slice(-3000)}`);
  }
}
