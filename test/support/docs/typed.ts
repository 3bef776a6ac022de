import { execFile } from 'node:child_process';
import { mkdir, mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Block } from './blocks.ts';

/** One call of a program. */
export interface Call {
  /** The block that calls it. */
  readonly block: Block;
  readonly program: string;
  readonly args: readonly string[];
  /** Only of a call that reads a document from its input (`-f -`). */
  readonly input?: string;
}

/** These do what they do: the others are only noted. */
const real = ['base64', 'cat', 'chmod', 'cut', 'date', 'grep', 'head', 'mkdir', 'sed', 'tail', 'tr'];

/** Notes how it was called, reads its input where it was told to, and prints nothing. */
const noting = `#!/bin/bash
input=
for arg in "$@"; do [ "$last" = -f ] && [ "$arg" = - ] && input=$(cat; printf x); last=$arg; done
printf '%s\\0' "\${0##*/}" "$#" "$@" "$input" >> "$CALLS"
[ "\${0##*/} $1" = 'git clone' ] && mkdir -p "\${@: -1}"
exit 0
`;

/**
 * What one shell makes of a page's blocks: every call of one of these programs, which are noted and not run.
 * Bash itself reads them: variables, quotes, pipes, loops and documents are what they are for the reader.
 *
 * @throws naming the page, if bash can't read it, if it calls another program, or does not end in time.
 */
export async function callsOf(
  blocks: readonly Block[],
  programs: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  milliseconds = 60_000,
): Promise<readonly Call[]> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'typed-'));
  const path = (name: string) => join(directory.path, name);
  await Promise.all([mkdir(path('bin')), mkdir(path('work')), writeFile(path('calls'), '')]);
  await writeFile(path('noting'), noting, { mode: 0o755 });
  await Promise.all([
    ...[...programs, 'sleep'].map((name) => symlink(path('noting'), path(`bin/${name}`))),
    ...real.map((name) => symlink(join('/usr/bin', name), path(`bin/${name}`))),
    ...['manifests', 'docs'].map((name) => symlink(join(checkout, name), path(`work/${name}`))),
  ]);
  const env = { ...variables, PATH: path('bin'), CALLS: path('calls'), HOME: path('work'), LC_ALL: 'C.UTF-8' };
  const script = blocks.map(({ text }, index) => `${next} ${index}\n${text}`).join('\n');
  const said = await inBash(`${preamble}\n${script}`, { cwd: path('work'), env, timeout: milliseconds });
  const calls = callsIn(await readFile(path('calls'), 'utf8'), blocks);
  const broken = said
    .split('\n')
    .find((line) => /does not end in time|syntax error|unbound|unexpected EOF|No such file/.test(line));
  const last = calls.at(-1)?.block ?? blocks[0];
  if (broken)
    throw new Error(`${last?.page}: at or after line ${last?.line}: ${broken.replace(/^.*: line \d+: /, '')}`);
  return calls.filter(({ program }) => program !== 'sleep');
}

const checkout = resolve(import.meta.dirname, '../../..');
const next = '@block';

const preamble = `
${next}() { printf '%s\\0' ${next} 1 "$1" '' >> "$CALLS"; }
command_not_found_handle() { printf '%s\\0' "$1" "$(($# - 1))" "\${@:2}" '' >> "$CALLS"; return 127; }`;

function inBash(
  script: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeout: number },
): Promise<string> {
  const limits = { maxBuffer: 1024 * 1024, killSignal: 'SIGKILL' } as const;
  return new Promise((settle) => {
    // Its exit code is that of a program which was not run.
    execFile('/bin/bash', ['--noprofile', '--norc', '-uc', script], { ...options, ...limits }, (error, _, stderr) =>
      settle(error?.killed ? 'it does not end in time' : stderr),
    );
  });
}

function callsIn(noted: string, blocks: readonly Block[]): Call[] {
  const words = noted.split('\0');
  const calls: Call[] = [];
  let block: Block | undefined;
  for (let at = 0; at + 1 < words.length; ) {
    const [program = '', count = '0'] = words.slice(at, at + 2);
    const args = words.slice(at + 2, at + 2 + Number(count));
    const input = words[at + 2 + args.length]?.slice(0, -1);
    if (program === next) block = blocks[Number(args[0])];
    else if (block) calls.push({ block, program, args, ...(input && { input }) });
    at += args.length + 3;
  }
  return calls;
}
