/** What a stand-in for a Git server can do otherwise than git's own; behave.ts and server.ts play it. */
export interface Traits {
  /** Of what git's own server offers in protocol version 0; absent: all. */
  readonly offers?: readonly string[];
  /** `ignored`: it reads each request as one of version 0. */
  readonly version2?: 'ignored';
  /** The HTTP status for a request in version 0 that does not say that it can do any of these. */
  readonly demands?: { readonly oneOf: readonly string[]; readonly status: number };
  /** A capability that was not offered is refused by an `ERR` inside a 200. */
  readonly isStrict?: true;
  /** Repositories are told by this other address. Other requests to it are answered or, without `.git`, not found. */
  readonly leads?: {
    readonly from: 'withoutDotGit' | 'formerName';
    readonly by: 301 | 307;
    readonly only: 'info/refs' | 'git-upload-pack' | 'anything';
  };
  /** `answers`: zipped, though nobody asked for it. `header`: it says so, and the answer is plain. */
  readonly zips?: 'answers' | 'header';
  /** As whose password it takes tokens, or only as those; absent: of anybody. */
  readonly takesTokens?: 'x-token-auth' | 'Bearer';
  /** Of git, in each new repository; a test may set it otherwise. */
  readonly config?: Readonly<Record<string, 'true' | 'false'>>;
}

/** Where a report can be read; or nobody told of it, and it is our guess or our own measurement. */
export type Source = readonly [`https://${string}`, ...`https://${string}`[]] | 'no report found' | 'measured by us';

export interface GitReport {
  /** After the server's name: what it does. */
  readonly does: string;
  readonly at: Source;
  readonly plays: { readonly [Trait in keyof Traits]-?: Required<Pick<Traits, Trait>> & Traits }[keyof Traits];
}

/**
 * What some tests need of a server. `asFewRequests`: no more of them than git's own takes. `direct`: it leads nowhere
 * else. `wholeCommits`: it leaves out files only where a test sets that; `filter`: that can be set, and single files
 * be asked for. `commitsWithoutRefs`: it gives them. `anyUser`: of that name, with the token.
 */
export type Capability = 'asFewRequests' | 'direct' | 'wholeCommits' | 'filter' | 'commitsWithoutRefs' | 'anyUser';

export function can({ leads, version2, offers, takesTokens, config = {} }: Traits, capability: Capability): boolean {
  switch (capability) {
    case 'asFewRequests':
      return !leads && version2 === undefined && config['uploadpack.allowFilter'] !== 'true';
    case 'direct':
      return !leads;
    case 'wholeCommits':
      return config['uploadpack.allowFilter'] !== 'true';
    case 'filter':
      return version2 === undefined && (offers?.includes('filter') ?? true);
    case 'commitsWithoutRefs':
      return version2 === undefined || config['uploadpack.allowAnySHA1InWant'] === 'true';
    case 'anyUser':
      return takesTokens === undefined;
    default:
      return capability satisfies never;
  }
}
