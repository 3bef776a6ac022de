/** The one place where an address meets a port: an IPv6 address has colons, so a URL has it in brackets. */

/** `fd00::1` as `[fd00::1]`; names and IPv4 addresses as they are. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** What `URL.hostname` says, as sockets want it. */
export function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** `fd00::1` and 2379 as `[fd00::1]:2379`. */
export function hostPort(host: string, port: number | string): string {
  return `${bracketed(host)}:${port}`;
}

/** @param host a name, or an address of either family, without brackets */
export function urlOf<S extends string>(scheme: S, host: string, port: number | string): `${S}://${string}` {
  return `${scheme}://${hostPort(host, port)}`;
}

/** Whether a URL leads to this host. An IPv6 address has several spellings, and `URL` knows one. */
export function leadsTo(url: string, host: string): boolean {
  return new URL(url).hostname === new URL(urlOf('http', host, 1)).hostname;
}
