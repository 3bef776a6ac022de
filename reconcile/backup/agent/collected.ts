/** Passed on between two looks, in bytes. */
const stretch = 4 * 1024 * 1024;
/** Of buffers, needed or not, in bytes. V8 counts them as outside its heap, and comes for old ones after 64 MiB. */
const most = 20 * 1024 * 1024;
/** What may come on top of what a collection left, in bytes: one takes some 20 ms. */
const room = 12 * 1024 * 1024;

export interface Collector {
  /** Bytes. */
  readonly buffers: () => number;
  /** `undefined` unless Node was started with `--expose-gc`, as in the agent's pod. */
  readonly collect: (() => void) | undefined;
}

const own: Collector = {
  buffers: () => process.memoryUsage().arrayBuffers,
  collect: globalThis.gc && (() => globalThis.gc?.()),
};

/** Passes bytes on, and has V8 collect when buffers pile up: what a slow store lets wait grows old. */
export async function* collected(
  chunks: AsyncIterable<Uint8Array>,
  { buffers, collect }: Collector = own,
): AsyncGenerator<Uint8Array> {
  let passed = 0;
  let limit = most;
  for await (const chunk of chunks) {
    yield chunk;
    passed += chunk.length;
    if (passed < stretch || collect === undefined) continue;
    passed = 0;
    if (buffers() <= limit) continue;
    collect();
    limit = Math.max(most, buffers() + room);
  }
}
