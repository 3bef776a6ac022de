/** What a server said it can do, and what its refusals taught: what we send it follows from that. Plain data. */
export interface ServerTerms {
  /** Where the repository answers: its url, or where the server redirects `info/refs`, on the same host and port. */
  readonly base: string;
  /** In protocol version 0; empty where the server was asked in version 2 and speaks it. */
  readonly capabilities: readonly string[];
  /** Whether it speaks protocol version 2; absent: not told, and not tried. */
  readonly version2?: boolean;
  /** Whether it can leave files out. */
  readonly canFilter: boolean;
}

export function termsIn(
  base: string,
  { version, capabilities }: { readonly version: 0 | 2; readonly capabilities: readonly string[] },
): ServerTerms {
  if (version === 0) return { base, capabilities, canFilter: capabilities.includes('filter') };
  const fetch = capabilities.find((one) => one.startsWith('fetch='))?.slice('fetch='.length) ?? '';
  return { base, capabilities: [], version2: true, canFilter: fetch.split(' ').includes('filter') };
}
