import { type Document, isAlias, isMap, isNode, isPair, isScalar, isSeq, type LineCounter, type Node } from 'yaml';
import type { Locate } from './found.ts';

/**
 * Finds fields of one document. A missing field is found at its deepest existing parent, where it is mended. Aliases
 * are followed to what they stand for, since that is what would have to be changed.
 */
export function locator(document: Document.Parsed, lines: LineCounter): Locate {
  return (path, part) => {
    let node: unknown = document.contents;
    let offset = startOf(node) ?? document.range[0];
    for (const [index, step] of path.entries()) {
      const found = child(resolved(node, document), step, document);
      if (!found) break;
      const last = index === path.length - 1;
      // A missing child's parent is pointed at by name: `spec:` says more than the first of its fields.
      const byName = part === 'key' || !last || !isScalar(found.value);
      offset = (byName ? startOf(found.key) : startOf(found.value)) ?? startOf(found.value) ?? offset;
      node = found.value;
    }
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
}

interface Found {
  readonly key: unknown;
  readonly value: unknown;
}

function child(node: unknown, step: string | number, document: Document.Parsed): Found | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(step)];
    return value === undefined ? undefined : { key: undefined, value };
  }
  if (!isMap(node)) return undefined;
  const pairs = node.items.filter(isPair);
  const direct = pairs.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  if (direct) return direct;
  for (const { key, value } of pairs) {
    if (!isScalar(key) || key.value !== '<<') continue;
    const sources = resolved(value, document);
    for (const source of isSeq(sources) ? sources.items : [sources]) {
      const merged = child(resolved(source, document), step, document);
      if (merged) return merged;
    }
  }
  return undefined;
}

function resolved(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
