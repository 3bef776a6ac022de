import { mkdtempDisposable, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePlugin } from '../../../demo/stay.ts';
import { type Block, blocksOf } from '../../../support/docs/blocks.ts';
import { sectionsIn } from '../../../support/docs/places.ts';
import { checkout, read } from '../../../unit/docs/pages.ts';
import type { Scene } from '../scene.ts';
import { follow } from '../tutorial.ts';

type Names = Readonly<Record<string, string>>;

/** The commands of a runbook, by the anchor of the section that they stand in; `''` is what stands above the first. */
export function sectionsOf(page: string): ReadonlyMap<string, readonly Block[]> {
  return sectionsIn(`docs/runbooks/${page}`);
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
  await writePlugin(directory.path, join(directory.path, 'kubectl-ratchet'));
  await symlink(join(checkout, 'manifests'), join(directory.path, 'manifests'));
  const own: Names = { NAMESPACE: namespace, CLUSTER: cluster, ...names };
  const written = blocks.map((block) => ({ ...block, text: withNames(block.text, own) }));
  const env = { ...process.env, NAMESPACE: namespace, PATH: `${directory.path}:${process.env.PATH}` };
  await follow([...etcdctl(), ...written], { cwd: directory.path, env });
}

/** The same blocks for a reader who has other names, which the page writes out. */
export function asOf(names: Names, blocks: readonly Block[]): readonly Block[] {
  const as = (text: string) => Object.entries(names).reduce((all, [name, by]) => all.replaceAll(name, by), text);
  return blocks.map((block) => ({ ...block, text: as(block.text) }));
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
