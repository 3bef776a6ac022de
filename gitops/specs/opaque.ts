/** Why nothing is known of a text that was not parsed, or holds no map; `undefined`: it is what its name says. */
export function opaqueBecause(text: string): string | undefined {
  const first = firstWords(text);
  if (first === undefined) return undefined;
  if (first.startsWith('version https://git-lfs.github.com/'))
    return 'is a pointer of Git LFS: its content is elsewhere';
  if (first.startsWith('-----BEGIN ') || first.startsWith('$ANSIBLE_VAULT;')) return 'is encrypted';
  // A list, a map in JSON or of complex keys, a tag, an anchor, text by lines: YAML, and its words are plain.
  const isStructure = /^[-{[?!&|>]/.test(first) || first.includes(': ') || first.includes(':\t') || first.endsWith(':');
  return isStructure ? undefined : noStructure;
}

export const noStructure = 'holds no YAML map or list';
export const encryptedBySops = 'is encrypted by SOPS';

/** The first line that is neither empty nor a comment nor a directive, without the mark of a document before it. */
function firstWords(text: string): string | undefined {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).replace(/^\ufeff/, '');
    const words = line.replace(/^(?:---|\.\.\.)(?=\s|$)/, '').trim();
    if (words !== '' && !words.startsWith('#') && !words.startsWith('%')) return words;
    if (end < 0) return undefined;
    at = end + 1;
  }
  return undefined;
}

/** Whether words may be written in it so that a search for them finds nothing: escaped, or encrypted. */
export function mayHideWords(text: string): boolean {
  return /\\(?:x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|\r?\n)|ENC\[AES256_GCM/i.test(text);
}
