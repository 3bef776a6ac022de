import type { Store, StoreOptions } from '../stores/store.ts';

/** Reads a small object whole, but no further than its bound; `undefined`: there is none. @throws {BackupFailure} */
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
