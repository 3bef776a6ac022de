import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { type FoundDocument, isObject } from './found.ts';
import { locator } from './locate.ts';
import type { Problem } from './problem.ts';
import { mayBeOurs, mentionsUs } from './recognise.ts';
import { type Fault, firstFault, maxAliases } from './soundness.ts';

export interface ParsedFile {
  readonly documents: readonly FoundDocument[];
  readonly problems: readonly Problem[];
  /** The file is nothing of ours, or broken and nothing of ours. */
  readonly ignored: boolean;
}

/** Problems told per file: after these, a person mends and looks again. */
const maxProblems = 20;

const nothing: ParsedFile = { documents: [], problems: [], ignored: true };

/** Parses one file of the repository. Never throws, whatever the bytes. */
export function parseFile(file: string, bytes: Uint8Array): ParsedFile {
  const text = decode(bytes);
  if (text === undefined) {
    return mentionsUs(bytesAsText(bytes)) ? broken(file, 'is not UTF-8 text: save it as UTF-8') : nothing;
  }
  if (!mayBeOurs(text)) return nothing;

  try {
    return parseText(file, text);
  } catch (error) {
    // The parser recurses once per level of nesting, so only absurd nesting exhausts the stack.
    const cause = error instanceof RangeError ? 'is nested too deeply' : 'cannot be parsed as YAML';
    return mentionsUs(text) ? broken(file, `${cause}: simplify it`) : nothing;
  }
}

function parseText(file: string, text: string): ParsedFile {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    merge: true,
    uniqueKeys: false, // see soundness.ts
    prettyErrors: false,
    logLevel: 'silent',
  });
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
  for (const document of Array.isArray(parsed) ? parsed : []) {
    // What follows the first error is mostly its echo.
    const fault = firstFault(document);
    const value = fault ?? plain(document);
    if (isFault(value)) {
      skipped = true;
      if (ours && problems.length < maxProblems) problems.push({ ...problemAt(value), ...identity(document) });
    } else if (isObject(value.data)) {
      const locate = locator(document, lines);
      const doubts = document.warnings.map(({ pos, message }) => problemAt({ offset: pos[0], message }));
      documents.push({ file, ...locate([], 'value'), object: value.data, locate, doubts });
    }
  }
  return { documents, problems, ignored: skipped && problems.length === 0 };
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

function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 without its mark decodes too, as letters with NULs between them, in which nothing would be recognised.
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined; // not UTF-8; the caller says so
  }
}

/** Good enough to search for ASCII words in any encoding, UTF-16 included. */
export function bytesAsText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replaceAll('\0', '');
}
