import type { ForgeCredentials } from '../../../../gitops/forges/credentials.ts';
import type { CommitStatus, Forge } from '../../../../gitops/forges/forge.ts';
import { openForge } from '../../../../gitops/forges/forges.ts';
import type { Network } from '../../../../gitops/net/agent.ts';
import type { ForgeType } from '../../../../manifests/api/etcd-fleet.ts';
import type { RecordedRequest } from '../../../support/git/recorder.ts';
import { localNetwork } from '../../../support/network.ts';

export const sha = 'ab'.repeat(20);
export const head = 'cd'.repeat(20);
export const secret = 'hunter2-hunter2';
export const status: CommitStatus = {
  sha,
  context: 'etcd-ratchet/production/plan',
  state: 'success',
  description: 'orders: 3.5.35→3.6.16, 9 steps',
  targetURL: 'https://page.example.com/checks/1',
};

/** A commit status as the tests tell of it. */
export interface SampleStatus {
  readonly context: string;
  readonly state: CommitStatus['state'];
}

/** A request as the tests tell of it; each kind says it in its own words. */
export interface Sample {
  readonly number: number;
  readonly title?: string;
  readonly sha?: string | null;
  readonly target?: string;
  /** `gone`: it was deleted. */
  readonly fork?: boolean | 'gone';
  /** `null`: the account is gone. */
  readonly author?: number | null;
  readonly labels?: readonly string[];
  readonly draft?: boolean;
  readonly url?: string;
  /** When it was changed last; `null`: that is not told. */
  readonly updated?: string | null;
}

export interface Kind {
  readonly type: ForgeType;
  /** Below the server's address. */
  readonly clone: string;
  readonly credentials?: ForgeCredentials;
  readonly authorization: string;
  readonly apiPath: string;
  /** Everything that it takes to make `apiURL` unnecessary is in the clone URL; Bitbucket Cloud has only one home. */
  readonly needsApiUrl?: boolean;
  readonly statusPath: string;
  readonly requestsPath: string;
  readonly commitPath: string;
  readonly headRef: (number: number) => string;
  /** A ref that requests from forks have in the target's repository. */
  readonly forkRef: boolean;
  /** What it says of the statuses of a commit: of all, or of the one that it is asked for. */
  statuses(samples: readonly SampleStatus[], asked: RecordedRequest): unknown;
  readonly statusesPath: string;
  /** One page with these. */
  page(samples: readonly Sample[], last: boolean, page?: number): unknown;
  /** Requests that one look reads. */
  readonly most: 1000 | 100;
  /** What a label proves. */
  readonly labels: 'always' | 'asks' | undefined;
  /** What the page was asked for; `undefined` if the request is about something else. */
  pageAsked(request: RecordedRequest): number | undefined;
}

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const numbered = ({ path, query }: RecordedRequest, ending: string) =>
  path.endsWith(ending) ? Number(query.page) - 1 : undefined;

const asBuild = ({ context, state }: SampleStatus) => ({
  key: context,
  name: `the build ${context}`,
  state: { success: 'SUCCESSFUL', pending: 'INPROGRESS', failure: 'FAILED', error: 'FAILED' }[state],
});

export const kinds: readonly Kind[] = [
  {
    type: 'GitHub',
    clone: '/platform/etcd.git',
    authorization: `Bearer ${secret}`,
    apiPath: '/api/v3',
    statusPath: `/repos/platform/etcd/statuses/${sha}`,
    requestsPath: '/repos/platform/etcd/pulls',
    commitPath: `/platform/etcd/commit/${sha}`,
    headRef: (number) => `refs/pull/${number}/head`,
    forkRef: true,
    most: 1000,
    labels: 'always',
    statusesPath: `/repos/platform/etcd/commits/${sha}/status`,
    statuses: (samples) => ({ state: 'failure', sha, total_count: samples.length, statuses: samples }),
    page: (samples) =>
      samples.map(
        ({
          number,
          title = 'one',
          sha = head,
          target = 'main',
          fork,
          draft = false,
          url,
          author = 100,
          labels = [],
        }) => ({
          number,
          title,
          draft,
          user: author === null ? null : { id: author, login: '<b>@everybody</b>' },
          labels: labels.map((name) => ({ id: 1, name })),
          html_url: url ?? `https://forge.example.com/pull/${number}`,
          head: { sha, ref: 'topic', repo: fork === 'gone' ? null : { id: fork ? 2 : 1 } },
          base: { ref: target, sha, repo: { id: 1 } },
        }),
      ),
    pageAsked: (request) => numbered(request, '/pulls'),
  },
  {
    type: 'GitLab',
    clone: '/team/platform/etcd.git',
    authorization: `Bearer ${secret}`,
    apiPath: '/api/v4',
    statusPath: `/projects/team%2Fplatform%2Fetcd/statuses/${sha}`,
    requestsPath: '/projects/team%2Fplatform%2Fetcd/merge_requests',
    commitPath: `/team/platform/etcd/-/commit/${sha}`,
    headRef: (number) => `refs/merge-requests/${number}/head`,
    forkRef: true,
    most: 1000,
    labels: 'always',
    statusesPath: `/projects/team%2Fplatform%2Fetcd/repository/commits/${sha}/statuses`,
    statuses: (samples, { query }) =>
      samples
        .filter(({ context }) => context === query.name)
        .map(({ context: name, state }, id) => ({
          id,
          sha,
          name,
          status: /failure|error/.test(state) ? 'failed' : state,
        }))
        .slice((Number(query.page) - 1) * 100, Number(query.page) * 100),
    page: (samples) =>
      samples.map(
        ({
          number,
          title = 'one',
          sha = head,
          target = 'main',
          fork,
          draft = false,
          url,
          author = 100,
          labels = [],
        }) => ({
          iid: number,
          id: 1000 + number,
          title,
          draft,
          author: author === null ? null : { id: author, username: '<b>@everybody</b>' },
          labels,
          web_url: url ?? `https://forge.example.com/pull/${number}`,
          sha,
          target_branch: target,
          source_project_id: fork === 'gone' ? null : fork ? 2 : 1,
          target_project_id: 1,
        }),
      ),
    pageAsked: (request) => numbered(request, '/merge_requests'),
  },
  ...(['Gitea', 'Forgejo'] as const).map(
    (type): Kind => ({
      type,
      clone: '/git/platform/etcd.git',
      authorization: `token ${secret}`,
      apiPath: '/git/api/v1',
      statusPath: `/repos/platform/etcd/statuses/${sha}`,
      requestsPath: '/repos/platform/etcd/pulls',
      commitPath: `/git/platform/etcd/commit/${sha}`,
      headRef: (number) => `refs/pull/${number}/head`,
      forkRef: true,
      most: 1000,
      labels: 'asks',
      statusesPath: `/repos/platform/etcd/commits/${sha}/status`,
      statuses: (samples, { query }) => ({
        state: 'failure',
        sha,
        statuses: query.page === '1' ? samples.map(({ context, state }) => ({ context, status: state })) : null,
      }),
      page: (samples) =>
        samples.map(
          ({
            number,
            title = 'one',
            sha = head,
            target = 'main',
            fork,
            draft = false,
            url,
            author = 100,
            labels = [],
          }) => ({
            number,
            title,
            draft,
            user: author === null ? null : { id: author, login: '<b>@everybody</b>' },
            labels: labels.length === 0 ? null : labels.map((name) => ({ id: 1, name })),
            html_url: url ?? `https://forge.example.com/pull/${number}`,
            head: { sha, ref: 'topic', repo_id: fork === 'gone' ? -1 : fork ? 2 : 1 },
            base: { ref: target, sha, repo_id: 1 },
          }),
        ),
      pageAsked: (request) => numbered(request, '/pulls'),
    }),
  ),
  {
    type: 'BitbucketCloud',
    clone: '/platform/etcd.git',
    needsApiUrl: true,
    authorization: `Bearer ${secret}`,
    apiPath: '/2.0',
    statusPath: `/repositories/platform/etcd/commit/${sha}/statuses/build`,
    requestsPath: '/repositories/platform/etcd/pullrequests',
    commitPath: `/platform/etcd/commits/${sha}`,
    headRef: () => 'refs/heads/topic',
    forkRef: false,
    most: 100,
    labels: undefined,
    statusesPath: `/repositories/platform/etcd/commit/${sha}/statuses`,
    statuses: (samples) => ({ pagelen: 100, values: samples.map(asBuild) }),
    page: (samples, last) => ({
      values: samples.map(
        ({ number, title = 'one', sha = head, target = 'main', fork, draft = false, url, author = 100, updated }) => ({
          id: number,
          title,
          draft,
          ...(updated !== null && { updated_on: updated ?? '2026-01-01T00:00:00Z' }),
          author: author === null ? null : { uuid: `${author}`, nickname: '<b>@everybody</b>' },
          links: { html: { href: url ?? `https://forge.example.com/pull/${number}` } },
          source: {
            branch: { name: 'topic' },
            commit: sha === null ? null : { hash: sha.slice(0, 12) },
            repository: fork === 'gone' ? null : { full_name: fork ? 'stranger/etcd' : 'platform/etcd' },
          },
          destination: {
            branch: { name: target },
            commit: { hash: sha?.slice(0, 12) ?? '' },
            repository: { full_name: 'platform/etcd' },
          },
        }),
      ),
      ...(last ? {} : { next: 'https://api.bitbucket.org/2.0/elsewhere?page=2' }),
    }),
    pageAsked: (request) => numbered(request, '/pullrequests'),
  },
  {
    type: 'BitbucketDataCenter',
    clone: '/context/scm/~ada/etcd.git',
    credentials: { kind: 'basic', username: 'ada', password: secret },
    authorization: basic(`ada:${secret}`),
    apiPath: '/context/rest/api/latest',
    statusPath: `/projects/~ada/repos/etcd/commits/${sha}/builds`,
    requestsPath: '/projects/~ada/repos/etcd/pull-requests',
    commitPath: `/context/projects/~ada/repos/etcd/commits/${sha}`,
    headRef: (number) => `refs/pull-requests/${number}/from`,
    forkRef: true,
    most: 1000,
    labels: undefined,
    statusesPath: `/projects/~ada/repos/etcd/commits/${sha}/builds`,
    statuses: (samples, { query }) => samples.map(asBuild).find(({ key }) => key === query.key),
    page: (samples, last, page = 0) => ({
      values: samples.map(
        ({ number, title = 'one', sha = head, target = 'main', fork, draft = false, url, author = 100 }) => ({
          id: number,
          title,
          draft,
          ...(author !== null && { author: { user: { id: author, name: '<b>@everybody</b>' } } }),
          fromRef: { id: 'refs/heads/topic', latestCommit: sha ?? '', repository: { id: fork ? 2 : 1 } },
          toRef: { id: `refs/heads/${target}`, latestCommit: sha, repository: { id: 1 } },
          links: { self: [{ href: url ?? `https://forge.example.com/pull/${number}` }] },
        }),
      ),
      isLastPage: last,
      ...(last ? { nextPageStart: null } : { nextPageStart: (page + 1) * 50 }),
    }),
    pageAsked: ({ path, query }) => (path.endsWith('/pull-requests') ? Number(query.start) / 50 : undefined),
  },
  {
    type: 'AzureDevOps',
    clone: '/tfs/Collection/My%20Project/_git/etcd',
    authorization: basic(`:${secret}`),
    apiPath: '/tfs/Collection',
    statusPath: `/My%20Project/_apis/git/repositories/etcd/commits/${sha}/statuses`,
    requestsPath: '/My%20Project/_apis/git/repositories/etcd/pullrequests',
    commitPath: `/tfs/Collection/My%20Project/_git/etcd/commit/${sha}`,
    headRef: () => 'refs/heads/topic',
    forkRef: false,
    most: 1000,
    labels: undefined,
    statusesPath: `/My%20Project/_apis/git/repositories/etcd/commits/${sha}/statuses`,
    statuses: (samples) => ({
      count: samples.length,
      value: samples.map(({ context, state }) => {
        const [genre, ...rest] = context.split('/');
        const named = rest.length > 0 ? { genre, name: rest.join('/') } : { name: context, genre: null };
        return { id: 1, context: named, state: { success: 'succeeded', failure: 'failed' }[state as string] ?? state };
      }),
    }),
    page: (samples) => ({
      count: samples.length,
      value: samples.map(
        ({ number, title = 'one', sha = head, target = 'main', fork, draft = false, author = 100, labels = [] }) => ({
          pullRequestId: number,
          title,
          isDraft: draft,
          ...(author !== null && { createdBy: { id: `${author}`, displayName: '<b>@everybody</b>' } }),
          labels: labels.map((name) => ({ name, active: true })),
          sourceRefName: 'refs/heads/topic',
          targetRefName: `refs/heads/${target}`,
          ...(sha === null ? {} : { lastMergeSourceCommit: { commitId: sha } }),
          ...(fork ? { forkSource: { name: 'refs/heads/topic' } } : {}),
        }),
      ),
    }),
    pageAsked: ({ path, query }) => (path.endsWith('/pullrequests') ? Number(query.$skip) / 50 : undefined),
  },
];

export function kindOf(type: ForgeType): Kind {
  const kind = kinds.find((one) => one.type === type);
  if (!kind) throw new Error(`no kind ${type}`);
  return kind;
}

export function open(
  kind: Kind,
  server: string,
  change: { readonly caBundle?: string; readonly network?: Network } = {},
): Forge {
  return openForge(kind.type, {
    gitUrl: `${server}${kind.clone}`,
    credentials: kind.credentials ?? { kind: 'token', token: secret },
    ...(kind.needsApiUrl ? { apiURL: `${server}${kind.apiPath}` } : {}),
    network: localNetwork,
    ...change,
  });
}

export function inTime(ms = 15_000): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(ms) };
}
