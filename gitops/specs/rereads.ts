import { type Document, isMap, isPair, isScalar, isSeq, Scalar } from 'yaml';
import { mayDiffer, plainScalar, readBefore } from './scalars.ts';

/** A word that was read otherwise before etcd-ratchet read as kubectl does. */
export interface Reread {
  /** To the value, or to the map whose key it is. */
  readonly path: readonly (string | number)[];
  readonly isKey?: true;
  /** As it stands in the document. */
  readonly text: string;
  readonly was: boolean | number | string;
  readonly now: boolean | number | string;
}

/** Told of one document. */
const most = 20;

interface Place {
  readonly node: unknown;
  readonly path: readonly (string | number)[];
}

/** The first few of a document. What an alias names is found where it is written. */
export function rereadsIn(document: Document.Parsed): readonly Reread[] {
  const found: Reread[] = [];
  const open: Place[] = [{ node: document.contents, path: [] }];
  for (let place = open.pop(); place && found.length < most; place = open.pop()) {
    const { node, path } = place;
    if (isScalar(node)) {
      const reread = rereadOf(node, path);
      if (reread) found.push(reread);
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) open.push({ node: item, path: [...path, index] });
    } else if (isMap(node)) {
      for (const item of node.items) {
        if (!isPair(item) || !isScalar(item.key)) continue;
        // A merge puts its fields where it stands.
        const key = String(item.key.value);
        const reread = rereadOf(item.key, path);
        if (reread) found.push({ ...reread, isKey: true, was: String(reread.was), now: String(reread.now) });
        open.push({ node: item.value, path: item.key.source === '<<' ? path : [...path, key] });
      }
    }
  }
  return found;
}

function rereadOf({ type, tag, source = '' }: Scalar, path: Place['path']): Reread | undefined {
  if (type !== Scalar.PLAIN || tag !== undefined || !mayDiffer.test(source)) return undefined;
  const [was, now] = [readBefore(source), plainScalar(source)];
  return was === now ? undefined : { path, text: source, was, now };
}
