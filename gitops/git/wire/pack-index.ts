import { createHash } from 'node:crypto';
import { type NamedObject, nameObjects } from './pack-names.ts';

export interface IndexedPack {
  readonly pack: Buffer;
  readonly index: Buffer;
  /** Names of files that are too large to be read. */
  readonly large: ReadonlySet<string>;
  /** Whether files have no name here, since they are made of such files or are so large. */
  readonly leavesOut: boolean;
}

/**
 * The index that `git index-pack` writes: where each object is. isomorphic-git needs it, and would make it slowly by
 * unpacking all objects once more. @throws GitError TooLarge, BadAnswer if git would refuse the pack, too
 */
export async function indexPack(pack: Buffer): Promise<IndexedPack> {
  const { objects, leavesOut } = await nameObjects(pack);
  const large = new Set(objects.flatMap(({ name, isLarge }) => (isLarge ? [name] : [])));
  return { pack, index: encodeIndex(objects, pack.subarray(-20)), large, leavesOut };
}

/**
 * Version 2 (gitformat-pack): how many names begin with no more than each first byte, then names, CRCs and places, all
 * in order of the names. Places have 31 bits, which a pack that was fetched into memory never leaves.
 */
function encodeIndex(objects: readonly NamedObject[], packSum: Buffer): Buffer {
  const sorted = objects.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = Buffer.from(sorted.map(({ name }) => name).join(''), 'hex');
  const upTo = new Uint32Array(256);
  for (let at = 0; at < sorted.length; at++) upTo.fill(at + 1, names[20 * at]);
  const content = Buffer.concat([
    Buffer.from('ff744f6300000002', 'hex'),
    inFourBytes([...upTo]),
    names,
    inFourBytes(sorted.map(({ crc }) => crc)),
    inFourBytes(sorted.map(({ start }) => start)),
    packSum,
  ]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

function inFourBytes(numbers: readonly number[]): Buffer {
  const bytes = new DataView(new ArrayBuffer(4 * numbers.length));
  for (const [at, number] of numbers.entries()) bytes.setUint32(4 * at, number);
  return Buffer.from(bytes.buffer);
}

/** Whether an index names an object. */
export function isIndexed(index: Buffer, oid: string): boolean {
  const name = Buffer.from(oid, 'hex');
  const first = name[0] ?? 0;
  const upTo = (byte: number) => (byte < 0 ? 0 : index.readUInt32BE(8 + 4 * byte));
  let [low, high] = [upTo(first - 1), upTo(first)];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = 8 + 1024 + 20 * middle;
    const order = index.compare(name, 0, 20, at, at + 20);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}
