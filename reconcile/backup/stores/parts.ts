/** Of one body, cut into parts of one size; the last may be smaller. Buffers that were sent are filled again. */
export interface Cut extends AsyncDisposable {
  /** All of it, where it fits into one part. */
  readonly whole: Uint8Array | undefined;
  readonly parts: AsyncIterable<Uint8Array>;
  /** Tells that this part is no longer needed. */
  readonly release: (part: Uint8Array) => void;
}

export async function cutBody(body: AsyncIterable<Uint8Array>, size: number): Promise<Cut> {
  const spare: Uint8Array[] = [];
  const parts = partsOf(body, size, spare);
  const first = await parts.next();
  const second = first.done ? first : await parts.next();
  return {
    whole: second.done ? (first.value ?? new Uint8Array(0)) : undefined,
    parts: joined([first.value, second.value], parts),
    release: (part) => {
      if (part.length === size) spare.push(part);
    },
    [Symbol.asyncDispose]: async () => {
      await parts.return(undefined);
    },
  };
}

/** Parts on their way at a time, while one more is filled. */
const underWay = 2;

/**
 * Sends parts side by side, and returns the results in their order.
 * @param send gets the number of each part, from 1
 * @throws the error of `send`; for more than `most` parts, that of `tooMany`
 */
export async function sendParts<T>(
  { parts, release }: Pick<Cut, 'parts' | 'release'>,
  { most, tooMany }: { readonly most: number; readonly tooMany: () => Error },
  send: (part: Uint8Array, number: number) => Promise<T>,
): Promise<readonly T[]> {
  const sent: Promise<T>[] = [];
  const sendOne = async (part: Uint8Array, number: number) => {
    const became = await send(part, number);
    release(part);
    return became;
  };
  for await (const part of parts) {
    if (sent.length === most) throw tooMany();
    const sending = sendOne(part, sent.length + 1);
    // It is awaited below; until then, it must not count as unhandled.
    sending.catch(() => undefined);
    sent.push(sending);
    await sent.at(-underWay);
  }
  return Promise.all(sent);
}

async function* joined(
  begun: readonly (Uint8Array | undefined)[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const part of begun) if (part !== undefined) yield part;
  yield* rest;
}

/**
 * Chunks of any sizes as parts of one size, the last one smaller.
 * @param spare free buffers of that size: without them many pile up before the collector comes
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
