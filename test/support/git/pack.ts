import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** Packs byte by byte (gitformat-pack), for what no git would write. */

export const kinds = { commit: 1, tree: 2, blob: 3, tag: 4, ofsDelta: 6, refDelta: 7 } as const;

/**
 * @param announced the size that it says it has, if another than its own; @param base what stands before a delta: a
 * name or a distance
 */
export function packEntry(
  kind: number,
  content: Uint8Array,
  { announced = content.length, base = Buffer.alloc(0) }: { readonly announced?: number; readonly base?: Buffer } = {},
): Buffer {
  const head = [(kind << 4) | (announced % 16)];
  for (let rest = Math.floor(announced / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest % 128);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(content)]);
}

export function packBody(...entries: readonly Buffer[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(entries.length, 8);
  return Buffer.concat([head, ...entries]);
}

/** With the sum at its end. */
export function summed(body: Buffer): Buffer {
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

export function packOf(...entries: readonly Buffer[]): Buffer {
  return summed(packBody(...entries));
}

export function nameOf(type: string, content: Uint8Array): Buffer {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest();
}

/** How far back a base begins: each further byte counts from one on. */
export function distance(bytes: number): Buffer {
  const written = [bytes & 127];
  for (let rest = (bytes >> 7) - 1; rest >= 0; rest = (rest >> 7) - 1) written.unshift(0x80 | (rest & 127));
  return Buffer.from(written);
}

/** As a delta spells it, twice at its beginning. */
export function size(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return bytes;
}

/** A delta that makes of anything so long what is given, and takes nothing from it. */
export function replacing(base: Uint8Array, result: Uint8Array): Buffer {
  const inserts: Buffer[] = [];
  for (let at = 0; at < result.length; at += 127) {
    const part = result.subarray(at, at + 127);
    inserts.push(Buffer.from([part.length]), Buffer.from(part));
  }
  return Buffer.concat([Buffer.from([...size(base.length), ...size(result.length)]), ...inserts]);
}

export function treeOf(entries: readonly (readonly [mode: string, name: string, oid: Buffer])[]): Buffer {
  return Buffer.concat(entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), oid]));
}

export function commitOf(tree: Buffer): Buffer {
  return Buffer.from(`tree ${tree.toString('hex')}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`);
}
