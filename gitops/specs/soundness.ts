import { type Document, isAlias, isMap, isNode, isPair, isScalar, isSeq } from 'yaml';

export interface Fault {
  /** Offset into the text. */
  readonly offset: number;
  readonly message: string;
}

/** Aliases per document; more is a bomb ("billion laughs"), not a spec. Each costs a walk through the document. */
export const maxAliases = 100;

/** The first thing that makes a parsed document unusable as data, or `undefined`. */
export function firstFault(document: Document.Parsed): Fault | undefined {
  const [error] = document.errors;
  if (!error) return unsound(document);
  const message = /call stack/i.test(error.message) ? 'nested too deeply' : error.message;
  return { offset: error.pos[0], message };
}

/** Duplicate keys and too many aliases. The parser compares all keys with each other: 26 seconds for 600 kB. */
function unsound(document: Document.Parsed): Fault | undefined {
  const open: unknown[] = [document.contents];
  let aliases = 0;
  while (open.length > 0) {
    const node = open.pop();
    if (isAlias(node)) {
      aliases++;
      if (aliases > maxAliases)
        return { offset: node.range?.[0] ?? 0, message: `more than ${maxAliases} aliases: write them out` };
    } else if (isSeq(node)) {
      for (const item of node.items) if (isNode(item) && !isScalar(item)) open.push(item);
    } else if (isMap(node)) {
      const keys = new Set<string>();
      for (const item of node.items) {
        if (!isPair(item)) continue;
        if (isScalar(item.key)) {
          const key = String(item.key.value);
          if (keys.has(key))
            return {
              offset: item.key.range?.[0] ?? 0,
              message: `the key ${JSON.stringify(key.slice(0, 80))} is there twice`,
            };
          keys.add(key);
        } else open.push(item.key);
        open.push(item.value);
      }
    }
  }
  return undefined;
}
