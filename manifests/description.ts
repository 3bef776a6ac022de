/** Characters of a commit status: GitHub answers 422 to a longer one; other forges cut it. */
export const longestDescription = 140;

/** Without line breaks, and without characters that control or change direction. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
