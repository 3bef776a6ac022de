import { byteAt, damaged, sizeAt } from './pack-entries.ts';

/**
 * Applies a delta (gitformat-pack): instructions to copy from the base, and bytes to insert.
 * @throws GitError BadAnswer where it does not fit its base, or makes another size than it says
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const of = sizeAt(delta, 0);
  const to = sizeAt(delta, of.next);
  if (of.size !== base.length) throw damaged();
  const result = Buffer.alloc(to.size);
  let filled = 0;
  for (let at = to.next; at < delta.length; ) {
    const instruction = byteAt(delta, at++);
    if (instruction & 0x80) {
      let from = 0;
      let size = 0;
      for (let bit = 0; bit < 4; bit++) if (instruction & (1 << bit)) from += byteAt(delta, at++) * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit++) if (instruction & (0x10 << bit)) size += byteAt(delta, at++) * 2 ** (8 * bit);
      if (size === 0) size = 0x10000;
      if (from + size > base.length || filled + size > result.length) throw damaged();
      base.copy(result, filled, from, from + size);
      filled += size;
    } else {
      // 0 is reserved.
      if (instruction === 0 || at + instruction > delta.length || filled + instruction > result.length) throw damaged();
      delta.copy(result, filled, at, at + instruction);
      at += instruction;
      filled += instruction;
    }
  }
  if (filled !== result.length) throw damaged();
  return result;
}
