import { mkdtempDisposable, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Block, blocksOf } from '../../../support/docs/blocks.ts';
import { anchorsOf, read } from '../../../unit/docs/pages.ts';
import type { Scene } from '../scene.ts';
import { follow } from '../tutorial.ts';

type Names = Readonly<Record<string, string>>;

/** The commands of a runbook, by the anchor of the section that they stand in; `''` is what stands above the first. */
export function sectionsOf(page: string): ReadonlyMap<string, readonly Block[]> {
  return sectionsIn(`docs/runbooks/${page}`);
}

/** The same of any page. */
export function sectionsIn(path: string): ReadonlyMap<string, readonly Block[]> {
  const text = read(path);
  const headings = [...text.matchAll(/^## .+$/gm)].map(({ index, 0: heading }) => ({
    line: text.slice(0, index).split('\n').length,
    anchor: anchorsOf(heading)[0] ?? '',
  }));
  const commands = blocksOf(path, text).filter(({ kind }) => kind === 'sh');
  const sectionOf = ({ line }: Block) => headings.findLast((heading) => heading.line < line)?.anchor ?? '';
  const filled = Map.groupBy(commands, sectionOf);
  return new Map([
    ['', filled.get('') ?? []] as const,
    ...headings.map(({ anchor }) => [anchor, filled.get(anchor) ?? []] as const),
  ]);
}

/** The function of docs/how-to/etcdctl.md, which pages tell their reader to make first. */
function etcdctl(): readonly Block[] {
  const page = 'docs/how-to/etcdctl.md';
  return blocksOf(page, read(page))
    .filter(({ kind }) => kind === 'sh')
    .slice(0, 1);
}

/**
 * Types blocks into one shell as their reader would, who replaces the names at the top of the page with his own.
 *
 * @throws naming the page and the line of the first command that fails.
 */
export async function type({ namespace }: Scene, cluster: string, names: Names, blocks: readonly Block[]) {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'runbook-'));
  const { kubernetes } = JSON.parse(process.env.RATCHET_BINARIES ?? '{}') as {
    readonly kubernetes?: { readonly kubectl: string };
  };
  if (kubernetes) await symlink(kubernetes.kubectl, join(directory.path, 'kubectl'));
  const own: Names = { NAMESPACE: namespace, CLUSTER: cluster, ...names };
  const written = blocks.map((block) => ({ ...block, text: withNames(block.text, own) }));
  const env = { ...process.env, NAMESPACE: namespace, PATH: `${directory.path}:${process.env.PATH}` };
  await follow([...etcdctl(), ...written], { cwd: directory.path, env });
}

/** A command of the test itself. */
export function line(text: string): Block {
  return { page: 'the test', line: 1, kind: 'sh', text: `${text}\n` };
}

function withNames(text: string, names: Names): string {
  return text.replaceAll(/^( *)([A-Z]+)=[^\n]*$/gm, (whole, indent: string, name: string) =>
    names[name] === undefined ? whole : `${indent}${name}='${names[name]}'`,
  );
}
