/**
 * Text of others, as it may go to a terminal: what moves its cursor, changes its colours, begins a line or turns the
 * direction of what follows is written as `\u001b`. A file in Git may have any name.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
