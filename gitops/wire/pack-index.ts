import { createHash } from 'node:crypto';
import { type NamedObject, nameObjects } from './pack-names.ts';

/**
 * What `git index-pack` writes beside a pack: where each of its objects is. isomorphic-git reads packs with it, and would make it in
 * JavaScript, unpacking all objects once more.
 *
 * @throws GitError TooLarge, BadAnswer if git would refuse the pack, too
 */
export async function indexPack(pack: Buffer): Promise<Buffer> {
  return encodeIndex(await nameObjects(pack), pack.subarray(-20));
}

/**
 * Version 2 (gitformat-pack): how many names begin with no more than each first byte, then names, CRCs and places, all in order of the
 * names. Places have 31 bits, which a pack that was fetched into memory never leaves.
 */
export function encodeIndex(objects: readonly NamedObject[], packSum: Buffer): Buffer {
  const sorted = objects.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const count = sorted.length;
  const names = 8 + 4 * 256;
  const crcs = names + 20 * count;
  const places = crcs + 4 * count;
  const sums = places + 4 * count;
  const index = Buffer.alloc(sums + 40);
  index.write('ff744f6300000002', 'hex');
  const upTo = new Uint32Array(256);
  for (const [at, { name, crc, start }] of sorted.entries()) {
    index.write(name, names + 20 * at, 'hex');
    index.writeUInt32BE(crc, crcs + 4 * at);
    index.writeUInt32BE(start, places + 4 * at);
    upTo[index.readUInt8(names + 20 * at)] = at + 1;
  }
  let known = 0;
  for (const [first, number] of upTo.entries()) {
    known = Math.max(known, number);
    index.writeUInt32BE(known, 8 + 4 * first);
  }
  packSum.copy(index, sums);
  createHash('sha1')
    .update(index.subarray(0, -20))
    .digest()
    .copy(index, sums + 20);
  return index;
}
