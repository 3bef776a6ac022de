import { lookup as lookupOfSystem } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type HostPattern, hostOf, isListed, portOf } from '../render/listed-hosts.ts';
import { isForbiddenAddress, isSameHost } from './addresses.ts';
import type { AllowLists } from './allow-lists.ts';

/** Where an installation lets us go for those who write fleets and backups, and what these may name. */
export interface Egress {
  readonly lists?: AllowLists;
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
 * Whether the installation lets us ask this URL, by its words; `guardedLookup` judges where a name leads.
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
 * Looks names up, and gives only addresses that the installation allows: what is checked is what is connected to,
 * however often a name changes its mind.
 * @param lookup the system's; another one in tests
 */
export function guardedLookup(url: URL, egress: Egress, lookup: LookupFunction = lookupOfSystem): LookupFunction {
  return (hostname, options, callback) => {
    // A proxy's name is the installation's own choice.
    if (hostname !== url.hostname) return lookup(hostname, options, callback);
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error || !Array.isArray(found)) return callback(error ?? new Error('no address'), []);
      const open = found.filter(({ address }) => isOpen(address, url, egress));
      const [first] = open;
      if (first === undefined) return callback(localRefused(url.origin), []);
      if (options.all) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}

/** Whether the installation allows the address to which the host of a URL has led. @throws {EgressError} */
export function assertAddress(address: string, url: URL, egress: Egress): void {
  if (!isOpen(address, url, egress)) throw localRefused(url.origin);
}

function isOpen(address: string, url: URL, egress: Egress): boolean {
  return !isApiServer(address, url, egress) && (isListed(egress.local, url) || !isForbidden(address, egress));
}

function localRefused(origin: string): EgressError {
  return new EgressError(
    'HostRefused',
    `${origin} is on this machine, on its link, a cloud's metadata or the API server: name another host, or have it listed in RATCHET_LOCAL_HOSTS (${page})`,
  );
}

function apiServerRefused(origin: string): EgressError {
  return new EgressError(
    'HostRefused',
    `${origin} is the API server of Kubernetes, and is never asked for those who write specs`,
  );
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
  return (
    isForbiddenAddress(found) || (apiServer !== undefined && isIP(found) !== 0 && isSameHost(apiServer.host, found))
  );
}
