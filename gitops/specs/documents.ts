import { GitError, stopIfAborted } from '../git/error.ts';
import type { Tree } from '../git/tree.ts';
import { takeTurns } from '../turns.ts';
import type { FoundDocument } from './found.ts';
import type { ParsedFile } from './parse.ts';
import type { Problem } from './problem.ts';
import { walk } from './walk.ts';

export interface DocumentLimits {
  readonly maxFiles: number;
  /** Bytes of one file; a larger one is that file's problem. */
  readonly maxFileBytes: number;
  /** Bytes of all files together; more, and nothing is read. */
  readonly maxTotalBytes: number;
  /** Of all files together, ours and others'; more, and nothing is read. */
  readonly maxDocuments: number;
}

/** What was parsed before, by path and object name: most files of two commits are the same. */
export type ParsedBefore = Map<string, ParsedFile>;

const defaultDocumentLimits: DocumentLimits = {
  maxFiles: 50_000,
  maxFileBytes: 1024 * 1024,
  maxTotalBytes: 256 * 1024 * 1024,
  maxDocuments: 50_000,
};

export interface Documents {
  /** In order of file and line. Ours and others': every map that was found where ours might be. */
  readonly documents: readonly FoundDocument[];
  readonly problems: readonly Problem[];
  /** What was not looked into and why, for a person; no problem unless something is to be pruned. */
  readonly notes: readonly string[];
  /** Every name under the path: a source file that is not among them is gone. */
  readonly names: ReadonlySet<string>;
  readonly files: number;
  /** Files that are broken but not ours. */
  readonly ignored: number;
  /** Whether everything that could be ours was parsed. Unless it was, nothing may be pruned (I8). */
  readonly readWhole: boolean;
}

/**
 * Reads every YAML and JSON document under a path.
 * @throws GitError PathNotFound, TooLarge, BadAnswer: then nothing is known of the tree, and nothing may be changed
 */
export async function readDocuments(
  tree: Tree,
  path: string,
  limits: Partial<DocumentLimits> = {},
  signal?: AbortSignal,
  before: ParsedBefore = new Map(),
  onFile?: (path: string) => void,
): Promise<Documents> {
  const { maxFiles, maxFileBytes, maxTotalBytes, maxDocuments } = { ...defaultDocumentLimits, ...limits };
  const { judgeLarge, parseFile } = await import('./parse.ts');
  const { files, names, hidden } = await walk(tree, path, maxFiles, signal);
  const unread = [...hidden];
  await tree.need(files.flatMap(({ oid, path }) => (before.has(`${oid} ${path}`) ? [] : [oid])));
  const documents: FoundDocument[] = [];
  const problems: Problem[] = [];
  let ignored = 0;
  let total = 0;
  let at = '';
  const turns = takeTurns(signal, () => onFile?.(at));
  for (const file of files) {
    await turns.next();
    stopIfAborted(signal);
    const bytes = await tree.file(file.oid).catch(unlessTooLarge);
    if (!bytes) {
      problems.push(tooLarge(file.path, 'too many', maxFileBytes));
      continue;
    }
    total += bytes.length;
    if (total > maxTotalBytes) {
      throw new GitError(
        'TooLarge',
        `the files under ${path || 'the root'} have more than ${maxTotalBytes} bytes: set a narrower path`,
      );
    }
    if (bytes.length > maxFileBytes) {
      const found = judgeLarge(bytes);
      if (found === 'ours') problems.push(tooLarge(file.path, bytes.length, maxFileBytes));
      else ignored++;
      if (found === 'hidden') unread.push({ path: file.path, message: `has more than ${maxFileBytes} bytes` });
      continue;
    }
    at = file.path;
    onFile?.(at);
    const key = `${file.oid} ${file.path}`;
    const parsed = before.get(key) ?? (await parseFile(file.path, bytes, turns));
    before.set(key, parsed);
    for (const document of parsed.documents) documents.push(document);
    if (documents.length > maxDocuments) throw tooMany(path, maxDocuments);
    for (const problem of parsed.problems) problems.push(problem);
    if (parsed.ignored) ignored++;
    if (parsed.hidden !== undefined) unread.push({ path: file.path, message: parsed.hidden });
  }
  const notes = unread.slice(0, mostNotes).map((entry) => `${entry.path} ${entry.message}`);
  return {
    documents,
    problems,
    notes,
    names,
    files: files.length,
    ignored,
    readWhole: problems.length === 0 && unread.length === 0,
  };
}

/** One is told where something is kept for it. */
const mostNotes = 100;

function tooMany(path: string, limit: number): GitError {
  return new GitError(
    'TooLarge',
    `the files under ${path || 'the root'} hold more than ${limit} documents: set a narrower path`,
  );
}

/** Whether it mentions us is not known, so nothing may be pruned. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof GitError) || error.reason !== 'TooLarge') throw error;
}

function tooLarge(file: string, bytes: number | 'too many', limit: number): Problem {
  return {
    file,
    line: 0,
    column: 0,
    message: `the file has ${bytes} bytes, more than the ${limit} that are read: split it`,
  };
}
