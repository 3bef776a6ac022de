import { createHash } from 'node:crypto';
import { GitError } from '../git/error.ts';
import { type FetchedTree, openPacks } from '../git/tree.ts';
import { takeTurns } from '../turns.ts';
import { askWithoutFolders, historySince } from './history.ts';
import { invalid, SignatureRefusal, type Signer } from './refusal.ts';
import { readCommitObject, readTagObject, type SignedObject } from './signed-object.ts';
import { signerOf } from './signer.ts';
import { readTrustedKeys, type TrustedKeys } from './trusted-keys.ts';
import { type Asked, short, type Verification } from './verification.ts';

/** The signer of a revision. */
export interface Verified extends Signer {
  readonly mode: Verification['mode'];
  /** Commits and tags whose signature was looked at. */
  readonly objects: number;
}

/**
 * Proves who signed what is about to be read: nothing of it may be read before. The tree's objects were named by what
 * they hold, so the signature of the commit is one of all of them.
 * @throws GitError CommitNotSigned, SignerNotTrusted, SignatureInvalid, HistoryNotVerified, TrustedKeysUnusable, …
 */
export async function verifyTree(asked: Asked): Promise<Verified> {
  const { verification } = asked;
  const { mode } = verification;
  const trusted = readTrustedKeys(verification.configMap, verification.keys);
  switch (mode) {
    case 'Head':
      return { mode, objects: 1, ...(await verifyHead(asked, trusted)) };
    case 'HeadAndMerges':
      return { mode, ...(await verifyLine(asked, trusted)) };
    case 'Tag':
      return { mode, objects: 1, ...(await verifyTag(asked, trusted)) };
  }
}

async function verifyHead({ tree, verification, now }: Asked, trusted: TrustedKeys): Promise<Signer> {
  const { sha } = tree.revision;
  const judge = judgeOf(verification, trusted, now);
  return judge(`commit ${short(sha)}`, async () => {
    const commit = readCommitObject(await objectOf(tree, sha, 'commit'));
    // The tree that is read must be the one that was signed.
    if (commit.tree !== tree.root) throw invalid('names another tree than the one that was read');
    return commit.signed();
  });
}

/** Each commit that the branch got since the last verified one, by pushes and merges; the head first. */
async function verifyLine(asked: Asked, trusted: TrustedKeys): Promise<Signer & { readonly objects: number }> {
  const { tree, verification, signal, now } = asked;
  const { revision } = tree;
  const head = await verifyHead(asked, trusted);
  const { since } = verification;
  if (since === undefined || since === revision.sha) return { ...head, objects: 1 };
  const { line, raw } = await historySince(asked, since);
  const cure = () =>
    `vouch for it by a signed merge whose first parent is ${short(since)}, or take it out of ${revision.ref}`;
  const judge = judgeOf(verification, trusted, now, cure);
  const turns = takeTurns(signal);
  for (const sha of line.slice(1)) {
    await turns.next();
    const called = `commit ${short(sha)}, which came to ${revision.ref} after ${short(since)},`;
    await judge(called, async () => readCommitObject(await objectOf({ raw, revision }, sha, 'commit')).signed());
  }
  return { ...head, objects: Math.max(1, line.length) };
}

async function verifyTag(asked: Asked, trusted: TrustedKeys): Promise<Signer> {
  const { git, tree, verification, signal, now } = asked;
  const { revision } = tree;
  const { tag } = verification;
  if (!tag)
    throw new GitError(
      'CommitNotSigned',
      `spec.git.verify.mode is Tag, and ${revision.ref} is no tag: name one in spec.git.ref, like refs/tags/v1`,
    );
  const { name, sha } = tag;
  const judge = judgeOf(verification, trusted, now);
  return judge(`tag ${name}`, async () => {
    if (sha === undefined) throw new SignatureRefusal('CommitNotSigned', 'is not signed');
    const answer = await askWithoutFolders(git, sha, { depth: 1 }, signal);
    if (answer.kind === 'refused') throw new GitError('RefMoved', `${git.source.url} no longer serves tag ${name}`);
    const { raw } = await openPacks([answer.pack], revision);
    const object = readTagObject(await objectOf({ raw, revision }, sha, 'tag'));
    // A signed tag is not let pass under another name, nor for another commit.
    if (object.name !== name || object.of !== revision.sha)
      throw invalid('was signed under another name, or for another commit');
    return object.signed();
  });
}

/** @throws GitError BadAnswer where the bytes are not those that the name stands for */
async function objectOf(
  { raw, revision }: Pick<FetchedTree, 'raw' | 'revision'>,
  sha: string,
  type: 'commit' | 'tag',
): Promise<Buffer> {
  const found = await raw(sha);
  const name =
    found && createHash('sha1').update(`${found.type} ${found.bytes.length}\0`).update(found.bytes).digest('hex');
  if (found?.type === type && name === sha) return found.bytes;
  throw new GitError('BadAnswer', `the Git server's data for ${revision.sha} lacks or damages ${type} ${sha}`);
}

type Judge = (called: string, read: () => Promise<SignedObject>) => Promise<Signer>;

function judgeOf(
  { configMap }: Verification,
  trusted: TrustedKeys,
  now: number,
  cureOf: (error: SignatureRefusal) => string = ({ reason }) => cures[reason](configMap),
): Judge {
  return async (called, read) => {
    try {
      return signerOf(await read(), trusted, now);
    } catch (error) {
      if (!(error instanceof SignatureRefusal)) throw error;
      throw new GitError(error.reason, `${called} ${error.message}: ${cureOf(error)}`);
    }
  };
}

const cures = {
  CommitNotSigned: (configMap) => `sign it with a key of ConfigMap ${configMap}`,
  SignerNotTrusted: (configMap) => `sign it with a key of ConfigMap ${configMap}, or add that one there`,
  SignatureInvalid: (configMap) => `sign it anew with a key of ConfigMap ${configMap}`,
} as const satisfies Record<SignatureRefusal['reason'], (configMap: string) => string>;
