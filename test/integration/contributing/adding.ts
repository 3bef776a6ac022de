/**
 * Rows of CONTRIBUTING's table "Adding things": a toy of that kind, in pieces. Without any one of its pieces something
 * must fail, and with all of them nothing may. To add a row: a file in `rows/`, and its line in `rows.ts`.
 */
export interface Adding {
  /** First cells of the rows that it is about. */
  readonly what: readonly string[];
  readonly pieces: readonly Piece[];
  /** What `npm run generate` must be run for, in the words of its check. */
  readonly generated?: RegExp;
}

export interface Piece {
  /** In the checkout. A row names it, or its folder. */
  readonly file: string;
  /** The text of a new file, or what is put into one that there is. */
  readonly text: string | readonly Insertion[];
  /** What says that it is missing, where all others are there. `toy`: it only uses the others. */
  readonly missedBy: Missed | 'toy';
}

export type Insertion =
  | { readonly after: string; readonly insert: string }
  | { readonly before: string; readonly insert: string };

/** `in`: the compiler, in that file. `run`: a command. */
export type Missed = { readonly says: RegExp } & ({ readonly in: string } | { readonly run: Command });

/** `generate`: what it says when it is run. `test/…`: a test file. */
export type Command = 'knip' | 'generate' | `test/${string}.test.ts`;

/** These pieces in the checkout: the new text of each of their files. */
export function textsWith(
  pieces: readonly Piece[],
  read: (file: string) => string | undefined,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const piece of pieces) texts.set(piece.file, withPiece(piece, texts.get(piece.file) ?? read(piece.file)));
  return texts;
}

/** @throws {Error} where it does not fit the checkout any more. */
function withPiece({ file, text }: Piece, before: string | undefined): string {
  if (typeof text !== 'string') return text.reduce((now, insertion) => inserted(file, insertion, now), before ?? '');
  if (before !== undefined) throw new Error(`${file} is there already`);
  return text;
}

function inserted(file: string, insertion: Insertion, text: string): string {
  const at = 'after' in insertion ? insertion.after : insertion.before;
  const [head, tail, ...more] = text.split(at);
  if (head === undefined || tail === undefined || more.length > 0)
    throw new Error(`${file} should have this once: ${at}`);
  return 'after' in insertion ? `${head}${at}${insertion.insert}${tail}` : `${head}${insertion.insert}${at}${tail}`;
}
