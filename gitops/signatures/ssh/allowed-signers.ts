import { SignatureRefusal } from '../refusal.ts';
import { type Bound, keptWithin, type TrustedKeysProblem } from '../trusted-keys-problem.ts';
import { readSshKey, type SshKey } from './key.ts';
import { gitNamespace } from './signature.ts';

/** One line of a file of allowed signers (ssh-keygen(1), ALLOWED SIGNERS) whose key may sign for Git. */
export interface AllowedSigner {
  readonly principals: string;
  readonly key: SshKey;
  /** Seconds since the epoch. */
  readonly validAfter?: number;
  readonly validBefore?: number;
}

/** By the bytes of the key, in base64. A key may have several lines. */
export type AllowedSigners = ReadonlyMap<string, readonly AllowedSigner[]>;

const mostLines = { what: 'lines', most: 1000 } satisfies Bound;
const longestLine = 16 * 1024;

/**
 * Every line counts, or the file is refused at it: a line that is not understood may be the one that limits a key.
 * @param report told of each line that is wrong
 */
export function readAllowedSigners(
  file: string,
  text: string,
  report: (problem: TrustedKeysProblem) => void,
): AllowedSigners {
  const found = new Map<string, AllowedSigner[]>();
  const lines = text.split('\n').map((line) => line.replace(/\r$/, '').trim());
  for (const [index, line] of keptWithin(lines, mostLines, file, report).entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const read = readLine(line);
    if (typeof read === 'string') report({ file, line: index + 1, message: read });
    else if (read.forGit) found.set(read.blob, [...(found.get(read.blob) ?? []), read.signer]);
  }
  return found;
}

interface Line {
  readonly blob: string;
  readonly signer: AllowedSigner;
  /** Whether its namespaces admit `git`. */
  readonly forGit: boolean;
}

/** The signer, or a sentence about the mistake. The words of a line are not repeated. */
function readLine(line: string): Line | string {
  if (line.length > longestLine) return `it has more than ${longestLine} characters`;
  const fields = fieldsOf(line);
  if (!fields) return 'a quotation mark has no end';
  const [principals = '', ...others] = fields;
  const typeAt = others.findIndex((field) => isKeyType(field));
  if (typeAt < 0 || typeAt > 1) return 'it has no key of a known type: write principals, options, key type, key';
  const options = typeAt === 1 ? optionsIn(others[0] ?? '') : {};
  if (typeof options === 'string') return options;
  const blob = others[typeAt + 1] ?? '';
  if (principals === '') return 'it names no principal';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(blob)) return 'its key is no base64';
  const bytes = Buffer.from(blob, 'base64');
  const { namespaces, ...times } = options;
  try {
    const key = readSshKey(bytes);
    if (key.type !== others[typeAt]) return 'its key is of another type than it says';
    const forGit = namespaces === undefined || matchesList(gitNamespace, namespaces);
    return { blob: bytes.toString('base64'), signer: { principals, key, ...times }, forGit };
  } catch (error) {
    if (error instanceof SignatureRefusal) return `its key can't be used: it ${error.message}`;
    throw error;
  }
}

/** Separated by spaces, but not inside of quotation marks, which are left out. `undefined`: one has no end. */
function fieldsOf(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  let field: string | undefined;
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') {
      isQuoted = !isQuoted;
      // Kept in options, where a comma inside of them is part of the value.
      field = `${field ?? ''}"`;
    } else if (!isQuoted && (character === ' ' || character === '\t')) {
      if (field !== undefined) fields.push(field);
      field = undefined;
    } else field = `${field ?? ''}${character}`;
  }
  if (isQuoted) return undefined;
  if (field !== undefined) fields.push(field);
  return fields.map((one, index) => (index === 0 ? one.replaceAll('"', '') : one));
}

function isKeyType(field: string): boolean {
  return /^(ssh|ecdsa|sk|webauthn)-[a-z0-9-]+(@openssh\.com)?$/.test(field);
}

interface Options {
  readonly namespaces?: string;
  readonly validAfter?: number;
  readonly validBefore?: number;
}

function optionsIn(text: string): Options | string {
  const options: { namespaces?: string; validAfter?: number; validBefore?: number } = {};
  for (const [, option = ''] of text.matchAll(/((?:[^,"]|"[^"]*")+)(?:,|$)/g)) {
    const [, name = '', , value = ''] = /^([^=]*)(="?([^"]*)"?)?$/s.exec(option) ?? [];
    const lower = name.toLowerCase();
    if (lower === 'cert-authority') return 'cert-authority is not supported: list the keys of people';
    if (lower === 'namespaces' && options.namespaces === undefined) options.namespaces = value;
    else if (lower === 'valid-after' || lower === 'valid-before') {
      const time = timeIn(value);
      if (time === undefined) return `${lower} is no time: write YYYYMMDD or YYYYMMDDHHMM[SS], with Z at its end`;
      const field = lower === 'valid-after' ? 'validAfter' : 'validBefore';
      if (options[field] !== undefined) return `${lower} stands there twice`;
      options[field] = time;
    } else return 'it has an option that is unknown, or stands there twice';
  }
  const { validAfter = 0, validBefore = Infinity } = options;
  if (validAfter >= validBefore) return 'valid-after is not before valid-before';
  return options;
}

/** UTC, with or without Z: a pod has no other zone. */
function timeIn(text: string): number | undefined {
  const [, date = '', clock = '0000', seconds = '00'] = /^(\d{8})(?:(\d{4})(\d{2})?)?Z?$/.exec(text) ?? [];
  const iso = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${clock.slice(0, 2)}:${clock.slice(2)}:${seconds}Z`;
  const at = Date.parse(iso);
  return date === '' || Number.isNaN(at) ? undefined : at / 1000;
}

/** OpenSSH's lists of patterns: one that begins with `!` and matches refuses, whatever else matches. */
function matchesList(text: string, list: string): boolean {
  const patterns = list.split(',').map((one) => one.trim());
  const isRefused = patterns.some((one) => one.startsWith('!') && matches(text, one.slice(1)));
  return !isRefused && patterns.some((one) => !one.startsWith('!') && matches(text, one));
}

/** With `*` and `?`, in time that grows with the product of both lengths at most. */
function matches(text: string, pattern: string): boolean {
  let reached = new Set([0]);
  for (const character of pattern) {
    const next = new Set<number>();
    for (const at of reached) {
      if (character === '*') for (let end = at; end <= text.length; end++) next.add(end);
      else if (at < text.length && (character === '?' || text[at] === character)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.has(text.length);
}
