import { invalid, SignatureRefusal } from './refusal.ts';

/** A commit or a tag, and what was signed of it. Of a tag, `of` is the commit that it names. */
export interface SignedObject {
  /** The exact bytes that the signature is about. */
  readonly payload: Buffer;
  /** Armored. */
  readonly signature: string;
  /** Seconds since the epoch, as the committer or tagger says. SSH signatures have no time of their own. */
  readonly at: number;
}

export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  /** @throws SignatureRefusal CommitNotSigned, SignatureInvalid */
  signed(): SignedObject;
}

export interface TagObject {
  readonly of: string;
  readonly name: string;
  /** @throws SignatureRefusal CommitNotSigned, SignatureInvalid */
  signed(): SignedObject;
}

/** Bytes of a commit or tag that is looked at. */
const mostBytes = 1024 * 1024;
const mostSignatureBytes = 64 * 1024;
const mostParents = 128;
const newline = 0x0a;
const space = 0x20;

interface Header {
  readonly name: string;
  /** Of a header with more lines, without the space before each. */
  readonly value: Buffer;
  readonly start: number;
  /** After its last newline. */
  readonly end: number;
}

/**
 * Reads a commit strictly: the headers that count come once and in Git's order, so that no other reader takes another
 * tree or parent from the signed bytes. @throws SignatureRefusal SignatureInvalid
 */
export function readCommitObject(bytes: Buffer): CommitObject {
  const { headers } = headersOf(bytes);
  const { tree, parents, rest } = referencesOf(headers);
  return {
    tree,
    parents,
    signed: () => {
      const [author, committer, ...others] = rest;
      if (author?.name !== 'author' || committer?.name !== 'committer') throw outOfOrder();
      const again = others.some(({ name }) => ['tree', 'parent', 'author', 'committer'].includes(name));
      if (again) throw outOfOrder();
      const signatures = others.filter(({ name }) => name === 'gpgsig');
      const [signature, second] = signatures;
      if (!signature) throw new SignatureRefusal('CommitNotSigned', 'is not signed');
      if (second) throw invalid('has more than one signature');
      // git leaves the signature for the other hash out of the payload of either.
      const payload = without(
        bytes,
        others.filter(({ name }) => name === 'gpgsig' || name === 'gpgsig-sha256'),
      );
      return { payload, signature: textOf(signature.value), at: timeOf(committer.value) };
    },
  };
}

/** @throws SignatureRefusal SignatureInvalid */
export function readTagObject(bytes: Buffer): TagObject {
  const { headers, bodyAt } = headersOf(bytes);
  const [object, type, tag, tagger, ...rest] = headers;
  if (object?.name !== 'object' || type?.name !== 'type' || tag?.name !== 'tag') throw outOfOrder();
  if (type.value.toString('latin1') !== 'commit') throw invalid('names no commit');
  return {
    of: shaIn(object.value),
    name: tag.value.toString('utf8'),
    signed: () => {
      if (tagger?.name !== 'tagger' || rest.length > 0) throw outOfOrder();
      const start = signatureStart(bytes, bodyAt);
      if (start === undefined) throw new SignatureRefusal('CommitNotSigned', 'is not signed');
      const signature = textOf(bytes.subarray(start));
      return { payload: bytes.subarray(0, start), signature, at: timeOf(tagger.value) };
    },
  };
}

/** The last line that begins a signature, as git has it: what is above it is the message. */
function signatureStart(bytes: Buffer, from: number): number | undefined {
  let found: number | undefined;
  for (let at = from; at < bytes.length; ) {
    const line = bytes.subarray(at, at + 40).toString('latin1');
    if (/^-----BEGIN (PGP|SSH|SIGNED) (SIGNATURE|MESSAGE)-----/.test(line)) found = at;
    const end = bytes.indexOf(newline, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return found;
}

function headersOf(bytes: Buffer): { readonly headers: readonly Header[]; readonly bodyAt: number } {
  if (bytes.length > mostBytes) throw invalid(`has more than ${mostBytes} bytes`);
  const headers: Header[] = [];
  let at = 0;
  while (at < bytes.length && bytes[at] !== newline) {
    const start = at;
    at = lineEnd(bytes, at);
    const lines = [bytes.subarray(start, at - 1)];
    while (bytes[at] === space) {
      const next = lineEnd(bytes, at);
      lines.push(bytes.subarray(at + 1, next - 1));
      at = next;
    }
    const [first = Buffer.alloc(0)] = lines;
    const split = first.indexOf(space);
    const name = first.toString('latin1', 0, split < 0 ? first.length : split);
    const values = [split < 0 ? Buffer.alloc(0) : first.subarray(split + 1), ...lines.slice(1)];
    headers.push({ name, value: joined(values), start, end: at });
  }
  return { headers, bodyAt: Math.min(bytes.length, at + 1) };
}

function lineEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(newline, at);
  if (end < 0) throw invalid('ends in the middle of a header');
  return end + 1;
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])));
}

function referencesOf(headers: readonly Header[]) {
  const [first, ...others] = headers;
  if (first?.name !== 'tree') throw outOfOrder();
  const count = others.findIndex(({ name }) => name !== 'parent');
  const parents = others.slice(0, count < 0 ? others.length : count);
  if (parents.length > mostParents) throw invalid(`has more than ${mostParents} parents`);
  return {
    tree: shaIn(first.value),
    parents: parents.map(({ value }) => shaIn(value)),
    rest: others.slice(parents.length),
  };
}

function shaIn(value: Buffer): string {
  const sha = value.toString('latin1');
  if (!/^[0-9a-f]{40}$/.test(sha)) throw outOfOrder();
  return sha;
}

/** `Name <address> 1700000000 +0000`: what is before the last `>` may be anything. */
function timeOf(value: Buffer): number {
  const after = value.subarray(value.lastIndexOf(0x3e) + 1).toString('latin1');
  const [, seconds] = /^ (\d{1,12})(?: |$)/.exec(after) ?? [];
  if (seconds === undefined) throw invalid('does not say when it was made');
  return Number(seconds);
}

function textOf(signature: Buffer): string {
  if (signature.length > mostSignatureBytes) throw invalid(`has a signature of more than ${mostSignatureBytes} bytes`);
  return signature.toString('latin1');
}

function without(bytes: Buffer, headers: readonly Header[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end } of headers) {
    parts.push(bytes.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

function outOfOrder(): SignatureRefusal {
  return invalid('has headers that Git does not write so');
}
