import { createHash } from 'node:crypto';

/** The numbers of Mach-O and of code signatures that are needed here. */
const macho = { magic: 0xfeedfacf, header: 32, segment: 0x19, codeSignature: 0x1d, commandSize: 16 } as const;
const signature = { superBlob: 0xfade0cc0, directory: 0xfade0c02, version: 0x20400, adHoc: 2, sha256: 2 } as const;
const directorySize = 88;
const pageBits = 12;
const page = 1 << pageBits;
const hashSize = 32;
/** Of the whole signature, before its one directory: the list of what it holds. */
const superBlobHeader = 20;

interface Segment {
  /** Of its load command. */
  readonly at: number;
  readonly offset: number;
  readonly size: number;
}

/**
 * Signs an executable of macOS without a key, as linkers do ("ad hoc"): Apple silicon starts nothing that is unsigned.
 * @throws where it is no such executable, is signed already, or has no room for one more load command
 */
export function signAdHoc(executable: Uint8Array, identifier: string): Buffer {
  const file = Buffer.from(executable);
  const { segments, signedAt, end, count } = commandsOf(file);
  const [text, linkEdit] = ['__TEXT', '__LINKEDIT'].map((name) => segments.get(name));
  if (!text || !linkEdit) throw new Error('the executable has no __TEXT or no __LINKEDIT');
  if (signedAt !== undefined) throw new Error('the executable is signed already');
  if (linkEdit.offset + linkEdit.size !== file.length) throw new Error('__LINKEDIT is not the end of the executable');
  if (file.subarray(end, end + macho.commandSize).some((byte) => byte !== 0))
    throw new Error('the executable has no room for the load command of a signature');

  const offset = Math.ceil(file.length / 16) * 16;
  const pages = Math.ceil(offset / page);
  const name = Buffer.from(`${identifier}\0`);
  const size = superBlobHeader + directorySize + name.length + pages * hashSize;
  const total = offset + size - linkEdit.offset;

  file.writeUInt32LE(count + 1, 16);
  file.writeUInt32LE(end + macho.commandSize - macho.header, 20);
  for (const [i, field] of [macho.codeSignature, macho.commandSize, offset, size].entries())
    file.writeUInt32LE(field, end + 4 * i);
  file.writeBigUInt64LE(BigInt(Math.ceil(total / 0x4000) * 0x4000), linkEdit.at + 32);
  file.writeBigUInt64LE(BigInt(total), linkEdit.at + 48);

  const signed = Buffer.concat([file, Buffer.alloc(offset - file.length)]);
  const hashes = pagesOf(signed, offset).map(hashOf);
  const directory = directoryOf(name, offset, hashes.length, text);
  const blob = Buffer.alloc(superBlobHeader);
  for (const [i, field] of [signature.superBlob, size, 1, 0, superBlobHeader].entries())
    blob.writeUInt32BE(field, 4 * i);
  return Buffer.concat([signed, blob, directory, name, ...hashes]);
}

/** The pages of a signed executable that are not what its signature says. @throws where it has no signature */
export function changedPages(file: Buffer): readonly number[] {
  const { signedAt } = commandsOf(file);
  if (signedAt === undefined) throw new Error('the executable is not signed');
  const start = file.readUInt32LE(signedAt + 8);
  const blobs = Array.from({ length: file.readUInt32BE(start + 8) }, (_, i) => start + 12 + 8 * i);
  const directories = blobs
    .map((at) => start + file.readUInt32BE(at + 4))
    .filter((at) => file.readUInt32BE(at) === signature.directory && file[at + 37] === signature.sha256);
  const [at] = directories;
  if (at === undefined) throw new Error('the signature has no directory of SHA-256');
  const [hashesAt, count, limit] = [16, 28, 32].map((field) => file.readUInt32BE(at + field)) as [
    number,
    number,
    number,
  ];
  const pages = pagesOf(file, limit);
  if (pages.length !== count) throw new Error(`the signature is of ${count} pages, and there are ${pages.length}`);
  return pages.flatMap((content, i) => {
    const hash = file.subarray(at + hashesAt + i * hashSize, at + hashesAt + (i + 1) * hashSize);
    return hashOf(content).equals(hash) ? [] : [i];
  });
}

function directoryOf(name: Buffer, limit: number, slots: number, text: Segment): Buffer {
  const directory = Buffer.alloc(directorySize);
  const words = [
    signature.directory,
    directorySize + name.length + slots * hashSize,
    signature.version,
    signature.adHoc,
    directorySize + name.length,
    directorySize,
    0,
    slots,
    limit,
  ];
  for (const [i, word] of words.entries()) directory.writeUInt32BE(word, 4 * i);
  directory.set([hashSize, signature.sha256, 0, pageBits], 36);
  directory.writeBigUInt64BE(BigInt(text.offset), 64);
  directory.writeBigUInt64BE(BigInt(text.size), 72);
  // It is a main program, not a library.
  directory.writeBigUInt64BE(1n, 80);
  return directory;
}

function commandsOf(file: Buffer) {
  if (file.length < macho.header || file.readUInt32LE(0) !== macho.magic)
    throw new Error('this is no 64-bit executable of macOS');
  const segments = new Map<string, Segment>();
  const count = file.readUInt32LE(16);
  let signedAt: number | undefined;
  let at: number = macho.header;
  for (let i = 0; i < count; i++) {
    const [command, size] = [file.readUInt32LE(at), file.readUInt32LE(at + 4)];
    if (command === macho.codeSignature) signedAt = at;
    if (command === macho.segment) {
      const name = file.toString('latin1', at + 8, at + 24).replace(/\0.*$/, '');
      const [offset, length] = [40, 48].map((field) => file.readBigUInt64LE(at + field));
      segments.set(name, { at, offset: Number(offset), size: Number(length) });
    }
    at += size;
  }
  return { segments, signedAt, end: at, count };
}

function pagesOf(file: Buffer, limit: number): readonly Buffer[] {
  const count = Math.ceil(limit / page);
  return Array.from({ length: count }, (_, i) => file.subarray(i * page, Math.min((i + 1) * page, limit)));
}

function hashOf(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}
