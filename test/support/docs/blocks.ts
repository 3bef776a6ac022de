/** A fenced block of a page, without the indentation of its fence. */
export interface Block {
  readonly page: string;
  /** Of its first line. */
  readonly line: number;
  /** The word after the fence. */
  readonly kind: string;
  readonly text: string;
}

export function blocksOf(page: string, written: string): Block[] {
  return [...written.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: kind = '', 3: text = '' }) => ({
      page,
      line: written.slice(0, index).split('\n').length + 1,
      kind: kind.trim(),
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
