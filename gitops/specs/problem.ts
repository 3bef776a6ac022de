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
export function byPlace(a: Place, b: Place): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}
