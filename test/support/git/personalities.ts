/** What a Git server was publicly reported to do otherwise than git's own. A new report is a row, or a line in one. */
export interface Personality {
  readonly reports: readonly string[];
  /** Of what git's own server offers in protocol version 0; absent: all. */
  readonly offers?: readonly string[];
  /** `ignored`: it reads each request as one of version 0. */
  readonly version2?: 'ignored';
  /** The HTTP status for a request in version 0 that does not say that it can do any of these. */
  readonly demands?: { readonly oneOf: readonly string[]; readonly status: number };
  /** A capability that was not offered is refused by an `ERR` inside a 200. */
  readonly isStrict?: boolean;
  /** Only `info/refs` is led to the address with `.git`; anything else without it is not found. */
  readonly leadsToDotGit?: boolean;
  /** `answers`: zipped, though nobody asked for it. `header`: it says so, and the answer is plain. */
  readonly zips?: 'answers' | 'header';
  /** As whose password it takes tokens, or only as those; absent: of anybody. */
  readonly takesTokens?: string;
}

export const personalities = {
  git: { reports: [] },
  azure: {
    reports: [
      'https://github.com/go-git/go-git/issues/64',
      'https://github.com/fluxcd/source-controller/issues/104',
      'https://github.com/microsoft/azure-pipelines-agent/issues/4453',
      'https://github.com/grafana/nanogit/pull/372',
    ],
    version2: 'ignored',
    demands: { oneOf: ['multi_ack', 'multi_ack_detailed'], status: 400 },
  },
  gitlab: {
    reports: [
      'https://github.com/src-d/go-git/issues/750',
      'https://github.com/isomorphic-git/isomorphic-git/issues/1122',
    ],
    leadsToDotGit: true,
  },
  codecommit: {
    reports: [
      'https://github.com/isomorphic-git/isomorphic-git/issues/199',
      'https://github.com/src-d/go-git/issues/945',
      'https://github.com/fluxcd/pkg/pull/576',
    ],
    version2: 'ignored',
    offers: [
      'multi_ack_detailed',
      'shallow',
      'side-band-64k',
      'thin-pack',
      'allow-tip-sha1-in-want',
      'allow-reachable-sha1-in-want',
    ],
    demands: { oneOf: ['multi_ack_detailed'], status: 400 },
    isStrict: true,
  },
  bitbucketCloud: {
    reports: ['https://support.atlassian.com/bitbucket-cloud/docs/using-access-tokens/'],
    takesTokens: 'x-token-auth',
  },
  bitbucketDataCenter: {
    reports: ['https://confluence.atlassian.com/bitbucketserver091/http-access-tokens-1443038354.html'],
    takesTokens: 'Bearer',
  },
  zippingProxy: { reports: ['https://github.com/git/git/pull/285'], zips: 'answers' },
  unzippingProxy: { reports: ['https://github.com/gchq/stroom/pull/5797'], zips: 'header' },
} as const satisfies Record<string, Personality>;

export type PersonalityName = keyof typeof personalities;
