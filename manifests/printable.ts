/**
 * Text of others for a terminal or a log: control, direction and invisible characters are written as `\u001b`. A file
 * in Git may have any name. JSON stays JSON with the same meaning; only line breaks between its tokens go.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => found.split('').map(escaped).join(''));
}

/** Of one UTF-16 unit, as JSON writes it: of what is beyond the first 65,536 there are two. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
