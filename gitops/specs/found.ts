import type { Problem } from './problem.ts';
import type { Reread } from './rereads.ts';

interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
}

/** The place of a field: of its name (for a field that should not be there) or of its value. */
export type Locate = (path: readonly (string | number)[], part: 'key' | 'value') => Position;

/** One YAML document that is a map: the only shape a Kubernetes object has. */
export interface FoundDocument {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly object: Readonly<Record<string, unknown>>;
  readonly locate: Locate;
  /** What the parser could not make sense of but read all the same, such as an unknown tag. A problem if it is ours. */
  readonly doubts: readonly Problem[];
  /** Of a document of ours: values that were read otherwise before. */
  readonly rereads: readonly Reread[];
}
