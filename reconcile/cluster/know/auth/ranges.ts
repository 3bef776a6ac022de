import { createHash } from 'node:crypto';
import type { AuthRight } from '../../../../manifests/api/auth-settings.ts';
import { printable } from '../../../../manifests/printable.ts';
import type { KeyRange, Right } from '../../../interfaces/etcd-auth.ts';

/** Rights of the spec in etcd's own terms, and back into words. */

/** Where etcd reads "from this key on"; as a key: the first one that there can be. */
const zero = Buffer.from([0]);

export function rightOf({ prefix, key, range, access }: AuthRight): Right {
  if (key !== undefined) return { ...between(Buffer.from(key), Buffer.alloc(0)), access };
  if (range) return { ...between(Buffer.from(range.from), Buffer.from(range.to)), access };
  const begin = Buffer.from(prefix ?? '');
  return { ...(begin.length === 0 ? between(zero, zero) : between(begin, after(begin))), access };
}

/**
 * The first key behind all that begin so: the last byte that can be is one higher, and what follows it goes (etcd's
 * `clientv3.GetPrefixRangeEnd`).
 */
function after(prefix: Buffer): Buffer {
  const last = prefix.findLastIndex((byte) => byte < 0xff);
  // Keys of UTF-8 never have such a byte.
  if (last < 0) return zero;
  const end = Buffer.from(prefix.subarray(0, last + 1));
  end[last] = (end[last] ?? 0) + 1;
  return end;
}

function between(key: Buffer, rangeEnd: Buffer): KeyRange {
  return { key: key.toString('base64'), rangeEnd: rangeEnd.toString('base64') };
}

export function isSameRange(one: KeyRange, other: KeyRange): boolean {
  return one.key === other.key && one.rangeEnd === other.rangeEnd;
}

/** For people: `"/a/"*`, `"/a"`, `"/a" to before "/c"`, `all keys`. In quotes no key reads like a range. */
export function wordsOf({ key, rangeEnd }: KeyRange): string {
  const [begin, end] = [Buffer.from(key, 'base64'), Buffer.from(rangeEnd, 'base64')];
  if (end.length === 0) return shown(begin);
  if (end.equals(zero)) return begin.equals(zero) ? 'all keys' : `${shown(begin)} and all after it`;
  return end.equals(after(begin)) ? `${shown(begin)}*` : `${shown(begin)} to before ${shown(end)}`;
}

const longest = 80;

/**
 * Others may have granted rights to keys of any bytes. Two that differ in what is left out differ in its hash.
 */
function shown(key: Buffer): string {
  const text = key.toString('utf8');
  const isText = Buffer.from(text).equals(key);
  const whole = isText ? printable(text) : `0x${key.toString('hex')}`;
  if (whole.length <= longest) return JSON.stringify(whole);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${JSON.stringify(whole.slice(0, longest >> 1))}…(${hash})…${JSON.stringify(whole.slice(-(longest >> 2)))}`;
}
