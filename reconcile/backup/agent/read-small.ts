import type { Store, StoreOptions } from '../stores/store.ts';

/**
 * A small object as a whole. What a store says of its size is not believed: what sends more is not read to its end.
 *
 * @returns `undefined` where there is none; `too large` beyond so many bytes
 * @throws {BackupFailure}
 */
export async function readSmall(
  store: Store,
  path: string,
  mostBytes: number,
  options: StoreOptions,
): Promise<Buffer | 'too large' | undefined> {
  const stored = await store.stat(path, options);
  if (stored === undefined) return undefined;
  if (stored.bytes > mostBytes) return 'too large';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of store.read(path, options)) {
    bytes += chunk.length;
    if (bytes > mostBytes) return 'too large';
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
