import { type Document, LineCounter, parseAllDocuments, YAMLParseError } from 'yaml';
import { type FoundDocument, isObject } from './found.ts';
import { locator } from './locate.ts';
import type { Problem } from './problem.ts';
import { mayBeOurs, mentionsUs } from './recognise.ts';

export interface ParsedFile {
  readonly documents: readonly FoundDocument[];
  readonly problems: readonly Problem[];
  /** The file is nothing of ours, or broken and nothing of ours. */
  readonly ignored: boolean;
}

/** Aliases that one document may resolve; more is a bomb ("billion laughs"), not a spec. */
const maxAliasCount = 1000;
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
  const parsed = parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false, logLevel: 'silent' });
  const ours = mentionsUs(text);
  const documents: FoundDocument[] = [];
  const problems: Problem[] = [];
  let skipped = false;
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const locate = locator(document, lines);
    // What follows the first error is mostly its echo.
    const [fault] = document.errors;
    if (fault) {
      skipped = true;
      if (ours) problems.push({ ...faultOf(file, fault, lines, text), ...identity(document) });
      continue;
    }
    const value = plain(document);
    if (value instanceof Error) {
      skipped = true;
      if (ours)
        problems.push({
          file,
          ...locate([], 'value'),
          message: `${value.message}: write it out`,
          ...identity(document),
        });
    } else if (isObject(value)) {
      const doubts = document.warnings.map((doubt) => faultOf(file, doubt, lines, text));
      documents.push({ file, ...locate([], 'value'), object: value, locate, doubts });
    }
  }
  return { documents, problems: problems.slice(0, maxProblems), ignored: skipped && problems.length === 0 };
}

function plain(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    return error instanceof ReferenceError
      ? new Error('aliases expand to too much, or refer to nothing', { cause: error })
      : new Error('it cannot be read as data', { cause: error });
  }
}

function faultOf(
  file: string,
  fault: Document.Parsed['errors'][number] | Document.Parsed['warnings'][number],
  lines: LineCounter,
  text: string,
): Problem {
  const { line, col } = lines.linePos(fault.pos[0]);
  const template =
    fault instanceof YAMLParseError && text.includes('{{') ? ' (templates are not rendered: commit plain YAML)' : '';
  const message = fault.message.replaceAll(/\s+/g, ' ').slice(0, 300);
  return { file, line: Math.max(line, 1), column: Math.max(col, 1), message: `not valid YAML: ${message}${template}` };
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
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8; the caller says so
  }
}

/** Good enough to search for ASCII words in any encoding, UTF-16 included. */
export function bytesAsText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replaceAll('\0', '');
}
