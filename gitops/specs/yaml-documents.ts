import { Composer, type Document, Lexer, type LineCounter, Parser } from 'yaml';
import type { Turns } from '../turns.ts';
import { withScalarsOfKubectl } from './scalars.ts';
import type { Fault } from './soundness.ts';

/** Each costs the parser more than its bytes: a file of one megabyte can hold a million brackets. */
const limits = { depth: 200, documents: 5_000, lexemesOfDocument: 100_000, aliases: 1_000 };

export type ReadDocument =
  | { readonly kind: 'document'; readonly document: Document.Parsed }
  /** What follows is not read. */
  | { readonly kind: 'end'; readonly fault: Fault };

/**
 * The documents of a text, one after the other: a reader may pause between any two words, and stops at the first
 * document that stands for more work than a spec can need.
 */
export async function* yamlDocuments(text: string, lines: LineCounter, turns: Turns): AsyncGenerator<ReadDocument> {
  const composer = new Composer({
    merge: true,
    customTags: withScalarsOfKubectl,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const count = { documents: 0, lexemes: 0, aliases: 0 };
  for (const lexeme of new Lexer().lex(text)) {
    const pause = turns.next();
    if (pause) await pause;
    count.lexemes++;
    if (lexeme.startsWith('*')) count.aliases++;
    const tooMuch = excessOf(count, parser.stack.length);
    if (tooMuch !== undefined) {
      yield { kind: 'end', fault: { offset: parser.offset, message: tooMuch } };
      return;
    }
    for (const token of parser.next(lexeme)) {
      for (const document of composer.next(token)) {
        yield { kind: 'document', document };
        count.documents++;
        Object.assign(count, { lexemes: 0, aliases: 0 });
      }
    }
  }
  for (const token of parser.end()) for (const document of composer.next(token)) yield { kind: 'document', document };
  for (const document of composer.end()) yield { kind: 'document', document };
}

function excessOf(
  { documents, lexemes, aliases }: { readonly documents: number; readonly lexemes: number; readonly aliases: number },
  depth: number,
): string | undefined {
  if (depth > limits.depth) return 'nested too deeply';
  if (lexemes > limits.lexemesOfDocument)
    return `more than ${limits.lexemesOfDocument} words in one document: split it`;
  if (documents > limits.documents) return `more than ${limits.documents} documents: split the file`;
  if (aliases > limits.aliases) return `more than ${limits.aliases} aliases: write them out`;
  return undefined;
}
