import { posix } from 'node:path';
import { GitError, stopIfAborted } from '../git/error.ts';
import { pathSegments } from '../git/source.ts';
import type { Tree, TreeEntry } from '../git/tree.ts';
import { takeTurns } from '../turns.ts';

interface FoundFile {
  /** From the repository's root. */
  readonly path: string;
  readonly oid: string;
}

export interface Walk {
  /** YAML and JSON files under the path, sorted. */
  readonly files: readonly FoundFile[];
  /** Every name under the path, links and submodules included: what is not among them is gone. */
  readonly names: ReadonlySet<string>;
  /** Links and submodules that may hide specs from us, each with why it was not followed. */
  readonly hidden: readonly { readonly path: string; readonly message: string }[];
}

/**
 * Lists the files under a path of the tree. Symbolic links are never followed: one to what is read anyway is skipped,
 * and any other hides something. Submodules are not fetched.
 * @throws GitError PathNotFound, TooLarge, BadAnswer
 */
export async function walk(tree: Tree, path: string, maxFiles: number, signal?: AbortSignal): Promise<Walk> {
  const segments = pathSegments(path);
  const start = await descend(tree, segments);
  const root = segments.join('/');
  if (start.kind === 'file') return { files: [{ path: root, oid: start.oid }], names: new Set([root]), hidden: [] };

  const files: FoundFile[] = [];
  const turns = takeTurns(signal);
  const links: FoundFile[] = [];
  const names = new Set<string>();
  const folders = new Set<string>();
  const hidden: { path: string; message: string }[] = [];

  async function visit(folder: string, oid: string, depth: number): Promise<void> {
    if (depth > 100) throw new GitError('TooLarge', `${folder} is nested more than 100 folders deep`);
    stopIfAborted(signal);
    await turns.next();
    folders.add(folder);
    for (const entry of await tree.folder(oid)) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.kind === 'folder') {
        await visit(name, entry.oid, depth + 1);
        continue;
      }
      names.add(name);
      if (entry.kind === 'file' && isSpecFile(name)) files.push({ path: name, oid: entry.oid });
      if (entry.kind === 'submodule') hidden.push({ path: name, message: 'is a submodule, which is not fetched' });
      if (entry.kind === 'symlink' && mayBeSpec(name)) links.push({ path: name, oid: entry.oid });
      if (names.size > maxNames) throw new GitError('TooLarge', tooMany(maxNames, 'files', root));
      if (files.length > maxFiles) {
        throw new GitError('TooLarge', tooMany(maxFiles, 'YAML and JSON files', root));
      }
    }
  }

  await visit(root, start.oid, 0);
  await tree.need(links.map(({ oid }) => oid));
  const read = new Set(files.map((file) => file.path));
  for (const { path, oid } of links) {
    const aim = await aimOf(tree, path, oid);
    const isInside = aim !== undefined && (root === '' || aim === root || aim.startsWith(`${root}/`));
    const isRead = isInside && (read.has(aim) || folders.has(aim) || (!isSpecFile(path) && names.has(aim)));
    if (isRead) continue;
    const where = isInside ? 'to what is not read' : 'that leads out of spec.git.path';
    hidden.push({ path, message: `is a symbolic link ${where}; links are not followed` });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, names, hidden };
}

/** Names under the path, whatever they name. */
const maxNames = 300_000;

function tooMany(limit: number, what: string, root: string): string {
  return `there are more than ${limit} ${what} under ${root || 'the root'}: set a narrower path`;
}

async function descend(tree: Tree, segments: readonly string[]): Promise<Pick<TreeEntry, 'kind' | 'oid'>> {
  let at: Pick<TreeEntry, 'kind' | 'oid'> = { kind: 'folder', oid: tree.root };
  for (const [index, name] of segments.entries()) {
    const entry = at.kind === 'folder' ? (await tree.folder(at.oid)).find((child) => child.name === name) : undefined;
    const here = segments.slice(0, index + 1).join('/');
    if (!entry)
      throw new GitError('PathNotFound', `there is no ${here} in ${tree.revision.ref} at ${tree.revision.sha}`);
    if (entry.kind === 'symlink' || entry.kind === 'submodule') {
      throw new GitError(
        'PathNotFound',
        `${here} is a ${entry.kind}, which is not followed: set path to the folder itself`,
      );
    }
    at = entry;
  }
  return at;
}

/** A link whose name says that it is no spec is one to a file that is not read, or to no folder. */
function mayBeSpec(name: string): boolean {
  return posix.extname(name) === '' || isSpecFile(name);
}

/** Where it leads to, from the root of the repository, which is the empty path; `undefined`: out of it. */
async function aimOf(tree: Tree, name: string, oid: string): Promise<string | undefined> {
  const target = Buffer.from(await tree.file(oid)).toString();
  if (posix.isAbsolute(target)) return undefined;
  const aim = posix.normalize(posix.join(posix.dirname(name), target)).replace(/\/$/, '');
  if (aim === '..' || aim.startsWith('../')) return undefined;
  return aim === '.' ? '' : aim;
}

function isSpecFile(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name);
}
