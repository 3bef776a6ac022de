import { GitError } from './error.ts';
import type { GitConnection } from './http.ts';
import { type ServerTerms, termsIn } from './terms.ts';
import { advertisementReader } from './wire/advertisement.ts';

/** Capabilities come before the first ref. A server that ignores version 2 lists all refs behind them. */
const mostBytesOfTerms = 64 * 1024;

/** Asked for once a connection, in version 2: a server that speaks it lists no refs then. @throws GitError */
export async function termsOf(git: GitConnection, signal: AbortSignal): Promise<ServerTerms> {
  if (git.terms) return git.terms;
  const reader = advertisementReader(() => false);
  try {
    await askInfoRefs(git, { version: 2, maxBytes: mostBytesOfTerms, onData: reader.push }, signal);
  } catch (error) {
    const isTold = reader.found.version === 2 || reader.found.capabilities.length > 0;
    if (!(error instanceof GitError) || error.reason !== 'TooLarge' || !isTold) throw error;
  }
  git.terms = termsIn(git.base, reader.found);
  return git.terms;
}

interface Asking {
  readonly version: 0 | 2;
  readonly maxBytes: number;
  readonly onData: (chunk: Buffer) => void;
}

/** @throws GitError */
export function askInfoRefs(git: GitConnection, { version, ...asking }: Asking, signal: AbortSignal): Promise<void> {
  const request = {
    method: 'GET',
    resource: 'info/refs?service=git-upload-pack',
    headers: version === 2 ? { 'git-protocol': 'version=2' } : {},
    expect: 'application/x-git-upload-pack-advertisement',
    ...asking,
  } as const;
  return git.send(request, signal);
}
