import { lookup as lookupOfSystem } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { unbracketed, urlOf } from '../../manifests/render/hosts.ts';
import { type HostPattern, hostOf, isListed, portOf } from '../../manifests/render/listed-hosts.ts';

/** Where an installation lets us go for those who write fleets. */
export interface Egress {
  /** Only there. Absent: anywhere but to forbidden hosts. */
  readonly hosts?: readonly HostPattern[];
  /** Where a Secret may be shown without TLS. */
  readonly plainHttp: readonly HostPattern[];
  /** Hosts that may be on this machine or its link, where everything else is refused. */
  readonly local: readonly HostPattern[];
  readonly apiServer?: { readonly host: string; readonly port: number };
}

/** What an installation that says nothing allows. */
export const strictEgress: Egress = { plainHttp: [], local: [] };

export type EgressReason = 'HostRefused' | 'PlainHttpRefused';

/** Nothing was sent. Its message says what would make it go on. */
export class EgressError extends Error {
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string) {
    super(message);
    this.name = 'EgressError';
    this.reason = reason;
  }
}

const page = 'docs/how-to/limit-tenants.md';

/**
 * Whether the installation lets us ask this URL, as far as its words tell: where a name leads is seen when it is looked
 * up, by `guardedLookup`.
 *
 * @param withSecret whether credentials would go along
 * @throws {EgressError}
 */
export function assertAllowed(url: URL, withSecret: boolean, egress: Egress): void {
  const { origin } = url;
  if (egress.hosts && !isListed(egress.hosts, url)) {
    throw new EgressError('HostRefused', `${origin} is not in RATCHET_HOSTS of this installation (${page})`);
  }
  const host = hostOf(url);
  if (isApiServer(host, url, egress)) throw apiServerRefused(origin);
  if (!isListed(egress.local, url) && (isReservedName(host) || isForbidden(host, egress))) throw localRefused(origin);
  if (withSecret && url.protocol === 'http:' && !isListed(egress.plainHttp, url)) {
    throw new EgressError(
      'PlainHttpRefused',
      `${origin} is plain HTTP, which would show what the Secret holds to anyone on the way: use https://, or have its host listed in RATCHET_PLAIN_HTTP_HOSTS (${page})`,
    );
  }
}

/** As `assertAllowed`; `undefined` where the installation lets us. */
export function refusalOf(...asked: Parameters<typeof assertAllowed>): EgressError | undefined {
  try {
    assertAllowed(...asked);
    return undefined;
  } catch (error) {
    if (error instanceof EgressError) return error;
    throw error;
  }
}

/**
 * Looks names up, and gives only addresses that the installation lets us connect to: what is checked is what is
 * connected to, however often a name changes its mind.
 *
 * @param lookup the system's; another one in tests
 */
export function guardedLookup(url: URL, egress: Egress, lookup: LookupFunction = lookupOfSystem): LookupFunction {
  const isLocal = isListed(egress.local, url);
  return (hostname, options, callback) => {
    // A proxy's name is the installation's own choice.
    if (hostname !== url.hostname) return lookup(hostname, options, callback);
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error || !Array.isArray(found)) return callback(error ?? new Error('no address'), []);
      const open = found.filter(
        ({ address }) => !isApiServer(address, url, egress) && (isLocal || !isForbidden(address, egress)),
      );
      const [first] = open;
      if (first === undefined) return callback(localRefused(url.origin), []);
      if (options.all) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}

function localRefused(origin: string): EgressError {
  return new EgressError(
    'HostRefused',
    `${origin} is on this machine, on its link, a cloud's metadata or the API server: name another host, or have it listed in RATCHET_LOCAL_HOSTS (${page})`,
  );
}

function apiServerRefused(origin: string): EgressError {
  return new EgressError('HostRefused', `${origin} is the API server of Kubernetes, and is never asked for a fleet`);
}

function isReservedName(host: string): boolean {
  return (
    /^(localhost|metadata|instance-data|kubernetes)$|\.localhost$/.test(host) ||
    /^(metadata\.(google\.internal|goog)|instance-data\.ec2\.internal|metadata\.[a-z-]+\.internal)$/.test(host) ||
    /^kubernetes\.default(\.svc(\..+)?)?$/.test(host)
  );
}

/** The very port: another one of that machine may be something that the installation allows. */
function isApiServer(host: string, url: URL, { apiServer }: Egress): boolean {
  return apiServer !== undefined && apiServer.port === portOf(url) && isSameHost(apiServer.host, host);
}

function isForbidden(found: string, { apiServer }: Egress): boolean {
  const addresses = meantBy(found).filter((one) => isIP(one) !== 0);
  if (addresses.length === 0) return false;
  if (apiServer !== undefined && isSameHost(apiServer.host, found)) return true;
  return addresses.some((one) => forbidden.check(one, isIPv6(one) ? 'ipv6' : 'ipv4'));
}

/** However it is written, and whatever it is mapped to or translated from. */
function isSameHost(known: string, asked: string): boolean {
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
