import { rule } from './rule.ts';
import { isIPv6 } from './tls-settings.ts';

/** Blocks of addresses, as a NetworkPolicy has them. What the API server refuses there is refused here first. */

interface Block {
  readonly address: bigint;
  /** 32 for IPv4, 128 for IPv6. */
  readonly bits: number;
  readonly prefix: number;
}

export const cidr = rule<string>({
  message: 'must be a block of IP addresses, like 10.0.0.0/8 or fd00::/8',
  cel: 'isCIDR(self)',
  holds: (value) => blockOf(value) !== undefined,
});

/** Kubernetes refuses others since 1.36. */
export const isMasked = rule<string>({
  message: 'must have no bits set beyond its prefix: 10.0.0.0/8, not 10.0.0.1/8',
  cel: '!isCIDR(self) || cidr(self) == cidr(self).masked()',
  holds: (value) => {
    const block = blockOf(value);
    return block === undefined || block.address === networkOf(block.address, block);
  },
});

interface IpBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

/** Not by CEL's `containsCIDR`: older API servers say false there unless both begin with the same address. */
export const exceptInside = rule<IpBlock>({
  message: 'each block of except must lie inside of cidr, and be smaller',
  cel: '!has(self.except) || !isCIDR(self.cidr) || self.except.all(one, !isCIDR(one) || (cidr(self.cidr).containsIP(cidr(one).ip()) && cidr(one).prefixLength() > cidr(self.cidr).prefixLength()))',
  holds: (block) => outsideOf(block).length === 0,
  explain: (block) => outsideOf(block).join(', '),
  fieldPath: '.except',
});

function outsideOf({ cidr: whole, except = [] }: IpBlock): readonly string[] {
  const around = blockOf(whole);
  return except.filter((value) => {
    const block = blockOf(value);
    return around && block && !isInside(block, around);
  });
}

function isInside(block: Block, around: Block): boolean {
  if (block.bits !== around.bits || block.prefix <= around.prefix) return false;
  return networkOf(block.address, around) === networkOf(around.address, around);
}

function networkOf(address: bigint, { bits, prefix }: Block): bigint {
  const host = BigInt(bits - prefix);
  return (address >> host) << host;
}

function blockOf(value: string): Block | undefined {
  const [, text = '', length = ''] = /^([^/]*)\/(0|[1-9][0-9]{0,2})$/.exec(value) ?? [];
  const bits = text.includes(':') ? 128 : 32;
  const prefix = Number(length);
  const address = bits === 128 ? addressOfIPv6(text) : addressOfIPv4(text);
  return length === '' || prefix > bits || address === undefined ? undefined : { address, bits, prefix };
}

function addressOfIPv4(text: string): bigint | undefined {
  const octets = text.split('.');
  const isOctet = (octet: string) => /^(0|[1-9][0-9]{0,2})$/.test(octet) && Number(octet) <= 255;
  if (octets.length !== 4 || !octets.every(isOctet)) return undefined;
  return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function addressOfIPv6(text: string): bigint | undefined {
  if (!isIPv6(text)) return undefined;
  // Canonical: without dots, and with `::` at most once.
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}
