import { execFileSync } from 'node:child_process';
import { git, gitEnvironment } from './git.ts';

/** Makes an armored signature of these bytes. */
export type Sign = (payload: Buffer) => string | Promise<string>;

/** The bytes of an object, as they are. */
export function objectBytes(directory: string, type: 'commit' | 'tag', name: string): Buffer {
  return execFileSync('git', ['cat-file', type, name], { cwd: directory, env: gitEnvironment() });
}

/** A commit with its signature in it, as git puts it there: before the empty line that ends the headers. */
export async function withSignature(commit: Buffer, sign: Sign): Promise<Buffer> {
  const end = commit.indexOf('\n\n') + 1;
  const header = `gpgsig ${(await sign(commit)).trimEnd().replaceAll('\n', '\n ')}\n`;
  return Buffer.concat([commit.subarray(0, end), Buffer.from(header), commit.subarray(end)]);
}

export function writeObject(directory: string, type: 'commit' | 'tag', bytes: Buffer): Promise<string> {
  return git(directory, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], bytes);
}

/** Puts a signed copy in the place of the commit at the branch's head; its name. */
export async function signHead(directory: string, sign: Sign, branch = 'main'): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const signed = await withSignature(objectBytes(directory, 'commit', ref), sign);
  const sha = await writeObject(directory, 'commit', signed);
  await git(directory, ['update-ref', ref, sha]);
  return sha;
}
