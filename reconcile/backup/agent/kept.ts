/** What `chunks` throws is told before a stream may wrap it. */
export async function* kept(
  chunks: AsyncIterable<Uint8Array>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    failed(error);
    throw error;
  }
}
