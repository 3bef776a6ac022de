/**
 * Chunks of any sizes as parts of one size, the last one smaller.
 *
 * @param spare buffers of that size that are free again: without them the collector lets many pile up before it comes.
 */
export async function* partsOf(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  spare: Uint8Array[],
): AsyncGenerator<Uint8Array, undefined> {
  const another = () => spare.pop() ?? Buffer.allocUnsafeSlow(size);
  let part = another();
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(size - filled, chunk.length - at);
      part.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < size) continue;
      yield part;
      part = another();
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
  return undefined;
}
