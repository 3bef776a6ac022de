import { bracketed, unbracketed, urlOf } from './hosts.ts';

/** A host as an admin of the installation lists it: `git.example.com`, `*.example.com`, `10.0.0.7:8443`. */
export interface HostPattern {
  /** In lower case; of an IPv6 address without brackets. */
  readonly host: string;
  /** All names below it, and not itself. */
  readonly below: boolean;
  /** Absent: any. */
  readonly port?: number;
}

export interface Hosts {
  readonly patterns: readonly HostPattern[];
  /** Entries that are no host. They match nothing. */
  readonly wrong: readonly string[];
}

/** @param text entries with commas or white space in between */
export function readHosts(text: string | undefined): Hosts {
  const entries = (text ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const read = entries.map((entry) => ({ entry, pattern: patternOf(entry) }));
  return {
    patterns: read.flatMap(({ pattern }) => (pattern ? [pattern] : [])),
    wrong: read.flatMap(({ entry, pattern }) => (pattern ? [] : [entry])),
  };
}

/** As `readHosts` reads it. An empty list is no empty text, which would mean that there is none. */
export function hostsText(patterns: readonly HostPattern[]): string {
  const texts = patterns.map(
    ({ host, below, port }) => `${below ? '*.' : ''}${bracketed(host)}${port === undefined ? '' : `:${port}`}`,
  );
  return texts.join(' ') || ',';
}

function patternOf(entry: string): HostPattern | undefined {
  const [, star, host = '', port] = /^(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(entry) ?? [];
  const url = host === '' ? null : URL.parse(urlOf('http', unbracketed(host), 80));
  // `.`, `..` and `a..b` are URLs to the parser, and names of nothing.
  if (!url || /^$|^\.|\.\.|\.$/.test(hostOf(url)) || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535)
    return undefined;
  return { host: hostOf(url), below: star !== undefined, ...(port !== undefined && { port: Number(port) }) };
}

export function isListed(patterns: readonly HostPattern[], url: URL): boolean {
  const host = hostOf(url);
  const port = portOf(url);
  return patterns.some(
    (one) =>
      (one.below ? host.endsWith(`.${one.host}`) : host === one.host) && (one.port === undefined || one.port === port),
  );
}

/** As URLs normalise it, and without the dot at the end of a full name, which means the same. */
export function hostOf({ hostname }: URL): string {
  return unbracketed(hostname).toLowerCase().replace(/\.$/, '');
}

export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
