import type { GitConnection } from './http.ts';

interface Asking {
  readonly body: Buffer;
  /** Of the protocol. */
  readonly version: 0 | 2;
  /** Told of each part of the answer as it arrives. */
  readonly onData: (chunk: Buffer) => void;
  /** Bytes of the answer, if fewer than of others. */
  readonly maxBytes?: number;
}

/** A request to `git-upload-pack`. @throws GitError */
export function askUploadPack(git: GitConnection, { version, ...asking }: Asking, signal: AbortSignal): Promise<void> {
  const headers = {
    'content-type': 'application/x-git-upload-pack-request',
    ...(version === 2 && { 'git-protocol': 'version=2' }),
  };
  const expect = 'application/x-git-upload-pack-result';
  return git.send({ method: 'POST', resource: 'git-upload-pack', headers, expect, ...asking }, signal);
}
