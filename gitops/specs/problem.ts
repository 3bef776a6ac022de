import { isRecord } from '../../manifests/json.ts';

/** Something in the repository that keeps a document from being used, at the place where a person can mend it. */
export interface Problem {
  /** Path from the repository's root. */
  readonly file: string;
  /** 1-based; 0 when the whole file is meant. */
  readonly line: number;
  /** 1-based; 0 when the whole file is meant. */
  readonly column: number;
  readonly message: string;
  /** Whose problem it is, as far as the document could be read. */
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** `file:line:column: message`, the form that editors and compilers use. */
export function formatProblem({ file, line, column, message }: Problem): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

/** By place, so that two runs over one tree say the same in the same order. */
function byPlace(a: Place, b: Place): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A person mends these first, and looks again. */
const mostOfFile = 10;
const most = 1_000;

/** The first problems of each file, by place, and in one more how many are left out. `all`: none is left out. */
export function fewProblems(problems: readonly Problem[]): {
  readonly told: readonly Problem[];
  readonly all: boolean;
} {
  const told: Problem[] = [];
  for (const [file, ofFile] of Map.groupBy(problems, (problem) => problem.file)) {
    const sorted = ofFile.toSorted(byPlace);
    const [first] = sorted.slice(mostOfFile);
    // One more says no less than that there is one more.
    if (sorted.length <= mostOfFile + 1 || !first) told.push(...sorted);
    else {
      const { line, column } = first;
      const message = `and ${sorted.length - mostOfFile} more problems in this file`;
      told.push(...sorted.slice(0, mostOfFile), { file, line, column, message });
    }
  }
  told.sort(byPlace);
  const [next] = told.slice(most);
  if (!next) return { told, all: told.length === problems.length };
  const { file, line, column } = next;
  return {
    told: [...told.slice(0, most), { file, line, column, message: `and ${told.length - most} more problems` }],
    all: false,
  };
}

/** Whose problem a document's is, as far as its text says. */
export function ownerOf(object: Readonly<Record<string, unknown>>): Pick<Problem, 'kind' | 'namespace' | 'name'> {
  const metadata = isRecord(object.metadata) ? object.metadata : {};
  const { namespace, name } = metadata;
  return {
    ...(typeof object.kind === 'string' ? { kind: object.kind } : {}),
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
  };
}
