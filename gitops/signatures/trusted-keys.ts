import { GitError } from '../git/error.ts';
import { dearmor } from './armor.ts';
import { type SigningKey, signingKeysIn } from './openpgp/certificates.ts';
import { packetsIn } from './openpgp/packets.ts';
import { SignatureRefusal } from './refusal.ts';
import { type AllowedSigner, type AllowedSigners, readAllowedSigners } from './ssh/allowed-signers.ts';
import type { TrustedKeysProblem } from './trusted-keys-problem.ts';

/** Whose signatures count. */
export interface TrustedKeys {
  readonly ssh: AllowedSigners;
  readonly openPgp: readonly SigningKey[];
}

/** Items of a ConfigMap, by name. */
export type KeyItems = Readonly<Record<string, string>>;

/** Of all items, in UTF-16 units: a pass reads them again for each new commit. */
const mostLength = 256 * 1024;
const mostOpenPgpKeys = 200;
/** Problems that a message names. */
const mostNamed = 3;

/**
 * Reads every item, or none: half a list of keys would trust other people than its author meant.
 * @param name of the ConfigMap, for messages
 * @throws GitError TrustedKeysUnusable, with item and line
 */
export function readTrustedKeys(name: string, items: KeyItems): TrustedKeys {
  const length = Object.entries(items).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (length > mostLength)
    throw unusable(name, `has more than ${mostLength / 1024} KiB: export keys with --export-options export-minimal`);
  const problems: TrustedKeysProblem[] = [];
  const ssh = new Map<string, readonly AllowedSigner[]>();
  const openPgp: SigningKey[] = [];
  const report = (problem: TrustedKeysProblem) => void problems.push(problem);
  for (const [file, text] of Object.entries(items).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (file.endsWith('.asc')) openPgp.push(...readBlocks(file, text, report));
    else if (file.endsWith('allowed_signers')) {
      for (const [blob, signers] of readAllowedSigners(file, text, report))
        ssh.set(blob, [...(ssh.get(blob) ?? []), ...signers]);
    } else report({ file, line: 0, message: 'its name ends in neither allowed_signers nor .asc' });
  }
  if (openPgp.length > mostOpenPgpKeys)
    report({ file: '', line: 0, message: `there are more than ${mostOpenPgpKeys} OpenPGP keys` });
  if (problems.length > 0) throw unusable(name, wordsOf(problems));
  if (ssh.size === 0 && openPgp.length === 0)
    throw unusable(name, 'holds no key: put SSH keys into an item allowed_signers, OpenPGP keys into items NAME.asc');
  return { ssh, openPgp };
}

function readBlocks(file: string, text: string, report: (problem: TrustedKeysProblem) => void): readonly SigningKey[] {
  const { blocks, strangeAt } = blocksIn(text);
  if (strangeAt !== undefined)
    report({ file, line: strangeAt, message: 'it holds something else than armored OpenPGP public keys' });
  else if (blocks.length === 0) report({ file, line: 0, message: 'it holds no armored OpenPGP public key' });
  return blocks.flatMap(({ armored, line }) => {
    try {
      return signingKeysIn(packetsIn(dearmor(armored, label)));
    } catch (error) {
      if (!(error instanceof SignatureRefusal)) throw error;
      report({ file, line, message: `its key can't be used: it ${error.message}` });
      return [];
    }
  });
}

const label = 'PGP PUBLIC KEY BLOCK';

interface Blocks {
  readonly blocks: readonly { readonly armored: string; readonly line: number }[];
  /** The first line that is in no whole block: a cut one, a private one, or another file. */
  readonly strangeAt?: number;
}

function blocksIn(text: string): Blocks {
  const blocks: { readonly armored: string; readonly line: number }[] = [];
  let begun: { readonly line: number; readonly lines: string[] } | undefined;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    const isBegin = line === `-----BEGIN ${label}-----`;
    if (isBegin && begun) return { blocks, strangeAt: begun.line };
    if (isBegin) begun = { line: index + 1, lines: [] };
    if (!begun && line !== '') return { blocks, strangeAt: index + 1 };
    begun?.lines.push(line);
    if (!begun || line !== `-----END ${label}-----`) continue;
    blocks.push({ armored: begun.lines.join('\n'), line: begun.line });
    begun = undefined;
  }
  return begun ? { blocks, strangeAt: begun.line } : { blocks };
}

function wordsOf(problems: readonly TrustedKeysProblem[]): string {
  const named = problems.slice(0, mostNamed).map(({ file, line, message }) => {
    const place = [file, line === 0 ? '' : line].filter((part) => part !== '').join(':');
    return place === '' ? message : `${place}: ${message}`;
  });
  const others = problems.length - named.length;
  return `can't be used: ${named.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

function unusable(name: string, what: string): GitError {
  return new GitError('TrustedKeysUnusable', `ConfigMap ${name} of spec.git.verify ${what}`);
}
