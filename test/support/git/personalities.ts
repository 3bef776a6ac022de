import type { GitReport, Traits } from './traits.ts';

/**
 * What Git servers were publicly reported to do otherwise than git's own. A new report is a row: what it says is played
 * by every server of that name, and a trait that nothing plays does not compile.
 */
const reports = {
  /** git's own. */
  git: [],
  github: [
    {
      does: 'gives any commit of the repository, and can leave files out',
      at: [
        'https://github.com/libgit2/libgit2/issues/6135',
        'https://github.com/isomorphic-git/isomorphic-git/issues/1123',
      ],
      plays: { config: { 'uploadpack.allowFilter': 'true', 'uploadpack.allowAnySHA1InWant': 'true' } },
    },
    {
      does: 'leads everything at the former name of a repository on, by 301',
      at: [
        'https://github.com/gitpod-io/gitpod/issues/1695',
        'https://github.com/package-url/packageurl.org/issues/41',
      ],
      plays: { leads: { from: 'formerName', by: 301, only: 'anything' } },
    },
  ],
  gitea: [
    {
      does: 'gives any commit, and can leave files out',
      at: ['https://github.com/go-gitea/gitea/issues/11958', 'https://github.com/go-gitea/gitea/issues/19118'],
      plays: { config: { 'uploadpack.allowFilter': 'true', 'uploadpack.allowAnySHA1InWant': 'true' } },
    },
    {
      does: 'lists refs at the former name of a repository, and leads the request for commits on, by 307',
      at: ['https://github.com/go-gitea/gitea/issues/28460'],
      plays: { leads: { from: 'formerName', by: 307, only: 'git-upload-pack' } },
    },
  ],
  gitlab: [
    {
      does: 'leads only info/refs to the address with .git, and knows nothing else without it',
      at: [
        'https://github.com/src-d/go-git/issues/750',
        'https://github.com/isomorphic-git/isomorphic-git/issues/1122',
        'https://github.com/fluxcd/source-controller/pull/765',
      ],
      plays: { leads: { from: 'withoutDotGit', by: 301, only: 'info/refs' } },
    },
    {
      does: 'gives any commit that a ref leads to, and can leave files out',
      at: ['https://github.com/sameersbn/docker-gitlab/issues/2887'],
      plays: {
        config: {
          'uploadpack.allowFilter': 'true',
          'uploadpack.allowTipSHA1InWant': 'true',
          'uploadpack.allowReachableSHA1InWant': 'true',
        },
      },
    },
  ],
  azure: [
    {
      does: 'speaks no version 2 of the protocol',
      at: ['https://github.com/grafana/nanogit/pull/372'],
      plays: { version2: 'ignored' },
    },
    {
      does: 'answers 400 to a request that does not say multi_ack',
      at: [
        'https://github.com/go-git/go-git/issues/64',
        'https://github.com/fluxcd/source-controller/issues/104',
        'https://github.com/ConfigButler/gitops-reverser/issues/288',
      ],
      plays: { demands: { oneOf: ['multi_ack', 'multi_ack_detailed'], status: 400 } },
    },
    {
      does: 'can leave files out',
      at: ['https://github.com/microsoft/azure-pipelines-agent/issues/4453'],
      plays: { config: { 'uploadpack.allowFilter': 'true' } },
    },
  ],
  codecommit: [
    {
      does: 'offers few capabilities, no deltas by offset, no filter and no version 2',
      at: ['https://github.com/isomorphic-git/isomorphic-git/issues/199', 'https://github.com/src-d/go-git/issues/945'],
      plays: {
        version2: 'ignored',
        config: { 'uploadpack.allowTipSHA1InWant': 'true', 'uploadpack.allowReachableSHA1InWant': 'true' },
        offers: [
          'multi_ack_detailed',
          'shallow',
          'side-band-64k',
          'thin-pack',
          'allow-tip-sha1-in-want',
          'allow-reachable-sha1-in-want',
        ],
      },
    },
    {
      does: 'demands multi_ack_detailed',
      at: ['https://github.com/fluxcd/pkg/pull/576'],
      plays: { demands: { oneOf: ['multi_ack_detailed'], status: 400 } },
    },
    { does: 'refuses inside a 200 what it did not offer', at: 'no report found', plays: { isStrict: true } },
  ],
  bitbucketCloud: [
    {
      does: 'takes an access token as the password of x-token-auth alone',
      at: ['https://support.atlassian.com/bitbucket-cloud/docs/using-project-access-tokens/'],
      plays: { takesTokens: 'x-token-auth' },
    },
  ],
  bitbucketDataCenter: [
    {
      does: 'takes a token of a project or repository as Bearer alone',
      at: ['https://confluence.atlassian.com/bitbucketserver091/http-access-tokens-1443038354.html'],
      plays: { takesTokens: 'Bearer' },
    },
  ],
  strippingProxy: [
    {
      does: 'does not hand Git-Protocol on: who asks in version 2 is answered in version 0',
      at: ['https://github.com/johnmehr/gitup/issues/11', 'https://github.com/gogs/gogs/issues/6130'],
      plays: { version2: 'ignored' },
    },
  ],
  zippingProxy: [
    {
      does: 'zips answers though that was not asked for',
      at: ['https://github.com/git/git/pull/285'],
      plays: { zips: 'answers' },
    },
  ],
  unzippingProxy: [
    {
      does: 'unzips answers and leaves the header that says gzip',
      at: ['https://github.com/gchq/stroom/pull/5797'],
      plays: { zips: 'header' },
    },
  ],
} as const satisfies Record<string, readonly GitReport[]>;

export type PersonalityName = keyof typeof reports;

export const gitReports: Readonly<Record<PersonalityName, readonly GitReport[]>> = reports;
export const personalityNames = Object.keys(reports) as readonly PersonalityName[];

/** All that was reported of that server. */
export function traitsOf(name: PersonalityName): Traits {
  const all = gitReports[name].map(({ plays }) => plays);
  return Object.assign({}, ...all, { config: Object.assign({}, ...all.map(({ config }) => config)) });
}

/** Those that serve fetches otherwise than git's own: `--all` runs what run/git-servers.ts selects against each. */
export const otherServers = personalityNames.filter((name) => {
  const { takesTokens: _, config, ...others } = traitsOf(name);
  return Object.keys(others).length > 0 || Object.keys(config ?? {}).length > 0;
});

export const gitServerVariable = 'RATCHET_GIT_SERVER';

/** What tests run against unless they say which server they are about. @throws naming the servers that there are */
export function chosenGitServer(environment: NodeJS.ProcessEnv): PersonalityName {
  const asked = environment[gitServerVariable] || 'git';
  const name = personalityNames.find((one) => one === asked);
  if (name) return name;
  throw new Error(
    `${gitServerVariable} is ${JSON.stringify(asked.slice(0, 40))}, which is no server that tests can run against: set it to one of ${personalityNames.join(', ')}, or unset it for git's own`,
  );
}

/** As people call them. */
export const personalityTitles = {
  git: 'git',
  github: 'GitHub',
  gitea: 'Gitea',
  gitlab: 'GitLab',
  azure: 'Azure DevOps',
  codecommit: 'CodeCommit',
  bitbucketCloud: 'Bitbucket Cloud',
  bitbucketDataCenter: 'Bitbucket Data Center',
  strippingProxy: 'a proxy, or a server without version 2',
  zippingProxy: 'a proxy that zips',
  unzippingProxy: 'a proxy that unzips',
} as const satisfies Record<PersonalityName, string>;
