import { BlockList, isIP, isIPv6 } from 'node:net';
import { unbracketed, urlOf } from '../render/hosts.ts';

/** This machine, its link, a cloud's metadata, or no machine at all: as it is written, mapped or translated. */
export function isForbiddenAddress(host: string): boolean {
  const addresses = meantBy(host).filter((one) => isIP(one) !== 0);
  return addresses.some((one) => forbidden.check(one, isIPv6(one) ? 'ipv6' : 'ipv4'));
}

/** However it is written, and whatever it is mapped to or translated from. */
export function isSameHost(known: string, asked: string): boolean {
  const wanted = meantBy(known);
  return meantBy(asked).some((one) => wanted.includes(one));
}

/** A name, or an address, and the IPv4 address that it stands for: mapped, compatible, NAT64 or 6to4. */
function meantBy(host: string): readonly string[] {
  const plain = unbracketed(host).replace(/%.*$/, '').toLowerCase();
  if (!isIPv6(plain)) return [plain];
  const words = wordsOf(plain);
  const inside = insideOf(words);
  const canonical = words.map((word) => word.toString(16)).join(':');
  return [canonical, ...(inside ? [inside.flatMap((word) => [word >> 8, word & 255]).join('.')] : [])];
}

/** The two words of an IPv6 address that are an IPv4 address. */
function insideOf(words: readonly number[]): readonly number[] | undefined {
  const starts = (...prefix: readonly number[]) => prefix.every((word, index) => words[index] === word);
  if (starts(0x2002)) return words.slice(1, 3);
  // RFC 6052, and the prefix of RFC 8215 for networks that translate for themselves.
  if (starts(0x64, 0xff9b, 0) || starts(0x64, 0xff9b, 1)) return words.slice(6);
  if (starts(0, 0, 0, 0, 0, 0xffff) || (starts(0, 0, 0, 0, 0, 0) && (words[6] ?? 0) > 0)) return words.slice(6);
  return undefined;
}

/** The eight numbers of an IPv6 address. */
function wordsOf(address: string): readonly number[] {
  const plain = unbracketed(URL.parse(urlOf('http', address, 80))?.hostname ?? '');
  const [head = '', tail] = plain.split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  return tail === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill(0), ...last];
}

const forbidden = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Metadata of clouds outside of the link: Azure's, Alibaba's, Oracle's.
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
] as const) {
  forbidden.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  // Metadata: Amazon's, Google's.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
] as const) {
  forbidden.addSubnet(network, bits, 'ipv6');
}
