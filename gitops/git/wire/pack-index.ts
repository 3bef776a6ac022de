import { createHash } from 'node:crypto';
import { type NamedObject, nameObjects } from './pack-names.ts';

/**
 * What `git index-pack` writes beside a pack: where each of its objects is. isomorphic-git reads packs with it, and
 * would make it in JavaScript, unpacking all objects once more.
 *
 * @throws GitError TooLarge, BadAnswer if git would refuse the pack, too
 */
export async function indexPack(pack: Buffer): Promise<Buffer> {
  return encodeIndex(await nameObjects(pack), pack.subarray(-20));
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
