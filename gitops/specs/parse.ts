import { type Document, LineCounter } from 'yaml';
import { isRecord } from '../../manifests/json.ts';
import { GitError } from '../git/error.ts';
import { type Turns, takeTurns } from '../turns.ts';
import type { FoundDocument, Locate } from './found.ts';
import { findInside, type Inside } from './inside.ts';
import { locator } from './locate.ts';
import { encryptedBySops, mayHideWords, noStructure, opaqueBecause } from './opaque.ts';
import { ownerOf, type Problem } from './problem.ts';
import { mayBeOurs, mentionsUs, namesOurVersion, recognise } from './recognise.ts';
import { rereadsIn } from './rereads.ts';
import { type Fault, firstFault, maxAliases } from './soundness.ts';
import { type ReadDocument, yamlDocuments } from './yaml-documents.ts';

export interface ParsedFile {
  readonly documents: readonly FoundDocument[];
  readonly problems: readonly Problem[];
  /** The file is nothing of ours, or broken and nothing of ours. */
  readonly ignored: boolean;
  /** Why something of ours may be in it that was not found; absent: all of it was understood. */
  readonly hidden?: string;
}

/** Problems kept per file, one more than are told (see few-problems.ts). */
const maxProblems = 100;

/** Told of one document. */
const maxDoubts = 20;

const nothing: ParsedFile = { documents: [], problems: [], ignored: true };

/** Parses one file of the repository. @throws nothing for what the bytes are; GitError Aborted where `turns` does */
export async function parseFile(file: string, bytes: Uint8Array, turns: Turns = takeTurns()): Promise<ParsedFile> {
  const text = decode(bytes);
  if (text === undefined) {
    return mentionsUs(bytesAsText(bytes)) ? broken(file, 'is not UTF-8 text: save it as UTF-8') : hiding(notText);
  }
  if (!mayBeOurs(text)) return hiding(opaqueBecause(text));

  try {
    return await parseText(file, text, turns);
  } catch (error) {
    if (error instanceof GitError) throw error;
    // The parser recurses once per level of nesting, so only absurd nesting exhausts the stack.
    const cause = error instanceof RangeError ? 'is nested too deeply' : 'cannot be parsed as YAML';
    if (mentionsUs(text)) return broken(file, `${cause}: simplify it`);
    return hiding(mayHideWords(text) ? cause : opaqueBecause(text));
  }
}

const notText = 'is not UTF-8 text';

function hiding(why: string | undefined): ParsedFile {
  return why === undefined ? nothing : { ...nothing, hidden: why };
}

async function parseText(file: string, text: string, turns: Turns): Promise<ParsedFile> {
  const lines = new LineCounter();
  const ours = mentionsUs(text);
  const hint = text.includes('{{') ? ' (templates are not rendered: commit plain YAML)' : '';
  function problemAt({ offset, message }: Fault): Problem {
    const { line, col } = lines.linePos(offset);
    const words = message.replaceAll(/\s+/g, ' ').slice(0, 300);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), message: `not valid YAML: ${words}${hint}` };
  }

  const documents: FoundDocument[] = [];
  const problems: Problem[] = [];
  let skipped = false;
  let hidden: string | undefined;
  for await (const read of yamlDocuments(text, lines, turns)) {
    const { fault, document, data } = judged(read);
    if (fault) {
      skipped = true;
      if (ours && problems.length < maxProblems)
        problems.push({ ...problemAt(fault), ...(document && identity(document)) });
      else if (!ours) hidden ??= mayHideWords(text) ? 'is not valid YAML' : opaqueBecause(text);
    } else if (document) {
      const locate = locator(document, lines);
      const isOurs = isRecord(data) && recognise(data).kind !== 'foreign';
      const judged = isOurs ? understood : judgedInside(file, data, locate);
      problems.push(...judged.problems.slice(0, Math.max(0, maxProblems - problems.length)));
      hidden ??= judged.hidden;
      if (!isRecord(data)) continue;
      const doubts = document.warnings
        .slice(0, maxDoubts)
        .map(({ pos, message }) => problemAt({ offset: pos[0], message }));
      const rereads = isOurs ? rereadsIn(document) : [];
      documents.push({ file, ...locate([], 'value'), object: data, locate, doubts, rereads });
    }
  }
  const conflict = skipped && ours ? conflictIn(text) : undefined;
  if (conflict) return { documents, problems: [{ file, ...conflict }], ignored: false };
  return { documents, problems, ignored: skipped && problems.length === 0, ...(hidden !== undefined && { hidden }) };
}

/** The first conflict that Git left in a text, in the form of every `merge.conflictStyle`. */
function conflictIn(text: string): Omit<Problem, 'file'> | undefined {
  const begins = /^<{7}(?: |\r?$)/m.exec(text);
  if (!begins || !/^={7}\r?$/m.test(text) || !/^>{7}(?: |\r?$)/m.test(text)) return undefined;
  const line = text.slice(0, begins.index).split('\n').length;
  const message =
    'a merge conflict begins here: keep what is right, and delete the lines that begin with <<<<<<<, |||||||, ======= and >>>>>>>';
  return { line, column: 1, message };
}

interface Judged {
  readonly problems: readonly Problem[];
  readonly hidden?: string | undefined;
}

const understood: Judged = { problems: [] };

/** A document of another kind must not hide one of ours. */
function judgedInside(file: string, data: unknown, locate: Locate): Judged {
  if (data === null || data === undefined) return understood;
  if (typeof data !== 'object') {
    const isNamed = typeof data === 'string' && namesOurVersion(data);
    const problem = {
      file,
      ...locate([], 'value'),
      message: 'this is a text, and no document: take it out of its quotes',
    };
    return isNamed ? { problems: [problem] } : { problems: [], hidden: noStructure };
  }
  const found = findInside(data);
  const problems = found.flatMap((inside) => (inside.kind === 'resource' ? [nested(file, inside, locate)] : []));
  const [first] = found.filter(({ kind }) => kind !== 'resource');
  if (!first) return { problems };
  const { line, column } = locate(first.path, 'value');
  const place = `(line ${line}, column ${column})`;
  const why = first.kind === 'cipher' ? encryptedBySops : 'names our apiVersion in what is no document of ours';
  return { problems, hidden: `${why} ${place}` };
}

function nested(file: string, { path, value }: Inside, locate: Locate): Problem {
  const where = typeof path.at(-1) === 'number' ? 'a list' : 'something else';
  const message = `this resource stands inside ${where}: write it as a document of its own`;
  return { file, ...locate(path, 'value'), message, ...ownerOf(value as Record<string, unknown>) };
}

/** What follows the first error is mostly its echo. */
function judged(read: ReadDocument): {
  readonly fault?: Fault;
  readonly document?: Document.Parsed;
  readonly data?: unknown;
} {
  if (read.kind === 'end') return { fault: read.fault };
  const { document } = read;
  const value = firstFault(document) ?? plain(document);
  return isFault(value) ? { fault: value, document } : { document, data: value.data };
}

function plain(document: Document.Parsed): { readonly data: unknown } | Fault {
  try {
    return { data: document.toJS({ maxAliasCount: maxAliases }) };
  } catch (error) {
    const message =
      error instanceof ReferenceError ? 'its aliases expand too far, or refer to nothing' : 'it cannot be read as data';
    return { offset: document.range[0], message };
  }
}

function isFault(value: { readonly data: unknown } | Fault): value is Fault {
  return 'offset' in value;
}

/** Whose document a broken one is, if that much can be read. */
function identity(document: Document.Parsed): Pick<Problem, 'kind' | 'namespace' | 'name'> {
  function text(...path: string[]): string | undefined {
    try {
      const value: unknown = document.getIn(path);
      return typeof value === 'string' ? value : undefined;
    } catch {
      return undefined; // getIn walks through what the error left; whatever is not there is simply not known
    }
  }
  const kind = text('kind');
  const namespace = text('metadata', 'namespace');
  const name = text('metadata', 'name');
  return { ...(kind ? { kind } : {}), ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) };
}

function broken(file: string, message: string): ParsedFile {
  return { documents: [], problems: [{ file, line: 0, column: 0, message: `the file ${message}` }], ignored: false };
}

/** A file that is too large to be parsed. `hidden`: that it is nothing of ours can't be told from its words. */
export function judgeLarge(bytes: Uint8Array): 'ours' | 'foreign' | 'hidden' {
  const text = decode(bytes);
  if (mentionsUs(text ?? bytesAsText(bytes))) return 'ours';
  const isKnown = text !== undefined && !mayBeOurs(text) && opaqueBecause(text) === undefined;
  return isKnown ? 'foreign' : 'hidden';
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 without its mark decodes too, as letters with NULs between them, in which nothing would be recognised.
    if (text.includes('\0')) return undefined;
    // Files that were put together bring the mark of each.
    return text.replaceAll(/^\ufeff/gm, '');
  } catch {
    return undefined; // not UTF-8; the caller says so
  }
}

/** Good enough to search for ASCII words in any encoding, UTF-16 included. */
function bytesAsText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replaceAll('\0', '');
}
