import { type FileHandle, open } from 'node:fs/promises';

/**
 * Reads one key of one bucket, or the last one, of a bbolt file, such as etcd's database (see bbolt's page.go,
 * bucket.go). The file is of others, so every number in it is bounded.
 */

const pageHeader = 16;
const elementSize = 16;
const magic = 0xed0cdaed;
const format = 2;
const branchPage = 1;
const leafPage = 2;
const bucketFlag = 1;
/** Of a page with all that it overflows to, in bytes. What etcd keeps beside its keys fits many times. */
const largestPage = 1024 * 1024;
/** Pages from the root to a leaf. */
const deepest = 16;

interface Bolt {
  readonly file: FileHandle;
  readonly pageSize: number;
  readonly root: bigint;
}

interface Found {
  readonly value: Buffer;
  readonly isBucket: boolean;
}

/** `undefined` where there is no such key, or what is there is no such file. @throws where it can't be read. */
export async function valueIn(path: string, bucket: string, key: string): Promise<Buffer | undefined> {
  await using file = await open(path, 'r');
  const bolt = await opened(file);
  const root = bolt && (await bucketIn(bolt, bucket));
  if (!bolt || !root) return undefined;
  const held = await search(bolt, 'inline' in root ? root.inline : await pageAt(bolt, root.page), Buffer.from(key));
  return held === undefined || held.isBucket ? undefined : held.value;
}

/** Of the bucket's last key; of a page only what leads there is read, because values may be large. */
export async function lastKeyIn(path: string, bucket: string): Promise<Buffer | undefined> {
  await using file = await open(path, 'r');
  const bolt = await opened(file);
  const root = bolt && (await bucketIn(bolt, bucket));
  if (!bolt || !root) return undefined;
  let read = 'inline' in root ? within(root.inline) : ofPage(bolt, root.page);
  for (let level = 0; level < deepest; level++) {
    const last = await lastOf(read);
    if (last === undefined || 'key' in last) return last?.key;
    read = ofPage(bolt, last.page);
  }
  return undefined;
}

type Reader = (offset: number, length: number) => Promise<Buffer | undefined>;

function within(page: Buffer): Reader {
  return async (offset, length) =>
    offset + length <= page.length ? page.subarray(offset, offset + length) : undefined;
}

function ofPage(bolt: Bolt, page: bigint): Reader {
  return async (offset, length) => {
    const begins = placeOf(bolt, page, offset);
    return begins === undefined ? undefined : bytesAt(bolt.file, begins, length);
  };
}

/** In bytes from the file's beginning. `undefined`: no file is that long. */
function placeOf({ pageSize }: Bolt, page: bigint, offset = 0): number | undefined {
  const at = page * BigInt(pageSize) + BigInt(offset);
  return at > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(at);
}

/** Where the last element of a page leads, or its key where the page is a leaf. */
async function lastOf(read: Reader): Promise<{ readonly page: bigint } | { readonly key: Buffer } | undefined> {
  const header = await read(0, pageHeader);
  const count = header?.readUInt16LE(10) ?? 0;
  if (!header || count === 0) return undefined;
  const offset = pageHeader + (count - 1) * elementSize;
  const element = await read(offset, elementSize);
  const flags = header.readUInt16LE(8);
  if (!element) return undefined;
  if ((flags & branchPage) !== 0) return { page: element.readBigUInt64LE(8) };
  const keySize = element.readUInt32LE(8);
  if ((flags & leafPage) === 0 || keySize > largestPage) return undefined;
  const key = await read(offset + element.readUInt32LE(4), keySize);
  return key && { key };
}

/** A small bucket lies in the place of its page's number. */
async function bucketIn(
  bolt: Bolt,
  bucket: string,
): Promise<{ readonly page: bigint } | { readonly inline: Buffer } | undefined> {
  const found = await search(bolt, await pageAt(bolt, bolt.root), Buffer.from(bucket));
  if (!found?.isBucket || found.value.length < pageHeader) return undefined;
  const root = found.value.readBigUInt64LE(0);
  return root === 0n ? { inline: found.value.subarray(pageHeader) } : { page: root };
}

/** By the later one of its two first pages: etcd writes a snapshot with both. */
async function opened(file: FileHandle): Promise<Bolt | undefined> {
  const first = await bytesAt(file, 0, pageHeader + 64);
  const pageSize = first && metaOf(first)?.pageSize;
  if (pageSize === undefined) return undefined;
  const second = await bytesAt(file, pageSize, pageHeader + 64);
  const [later] = [first, second]
    .flatMap((page) => (page && metaOf(page)) ?? [])
    .toSorted((a, b) => Number(b.transaction - a.transaction));
  return later && { file, pageSize, root: later.root };
}

function metaOf(page: Buffer) {
  if (page.readUInt32LE(pageHeader) !== magic || page.readUInt32LE(pageHeader + 4) !== format) return undefined;
  const pageSize = page.readUInt32LE(pageHeader + 8);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  return { pageSize, root: page.readBigUInt64LE(pageHeader + 16), transaction: page.readBigUInt64LE(pageHeader + 48) };
}

async function pageAt(bolt: Bolt, number: bigint): Promise<Buffer | undefined> {
  const { file, pageSize } = bolt;
  const at = placeOf(bolt, number);
  if (at === undefined) return undefined;
  const first = await bytesAt(file, at, pageSize);
  const overflow = first?.readUInt32LE(12) ?? 0;
  if (overflow === 0) return first;
  const size = (overflow + 1) * pageSize;
  return size > largestPage ? undefined : bytesAt(file, at, size);
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
  return bytesRead === length ? buffer : undefined;
}

async function search(bolt: Bolt, start: Buffer | undefined, key: Buffer): Promise<Found | undefined> {
  let page = start;
  for (let depth = 0; depth < deepest; depth++) {
    if (page === undefined || page.length < pageHeader) return undefined;
    const flags = page.readUInt16LE(8);
    if ((flags & leafPage) !== 0) return inLeaf(page, key);
    const next = (flags & branchPage) === 0 ? undefined : below(page, key);
    page = next === undefined ? undefined : await pageAt(bolt, next);
  }
  return undefined;
}

function inLeaf(page: Buffer, key: Buffer): Found | undefined {
  for (const at of elementsOf(page)) {
    const [flags, position, keySize, valueSize] = [0, 4, 8, 12].map((offset) => page.readUInt32LE(at + offset));
    const begins = at + (position ?? 0);
    const middle = begins + (keySize ?? 0);
    const ends = middle + (valueSize ?? 0);
    if (ends > page.length || !page.subarray(begins, middle).equals(key)) continue;
    return { value: page.subarray(middle, ends), isBucket: ((flags ?? 0) & bucketFlag) !== 0 };
  }
  return undefined;
}

/** The page of the last key that is not beyond this one. */
function below(page: Buffer, key: Buffer): bigint | undefined {
  let found: bigint | undefined;
  for (const at of elementsOf(page)) {
    const begins = at + page.readUInt32LE(at);
    const ends = begins + page.readUInt32LE(at + 4);
    if (ends > page.length || (found !== undefined && page.subarray(begins, ends).compare(key) > 0)) return found;
    found = page.readBigUInt64LE(at + 8);
  }
  return found;
}

/** Where each begins, of those that are there in full. */
function elementsOf(page: Buffer): readonly number[] {
  const most = Math.min(page.readUInt16LE(10), Math.floor((page.length - pageHeader) / elementSize));
  return Array.from({ length: most }, (_, index) => pageHeader + index * elementSize);
}
