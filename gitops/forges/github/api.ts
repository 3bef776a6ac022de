import Type from 'typebox';
import { type Api, apiAt, type Call } from '../api.ts';
import { changeRequests } from '../change-request.ts';
import { tokenOf } from '../credentials.ts';
import { failedAmong } from '../failed-status.ts';
import type { ChangeRequest, CommitStatus, Forge, ForgeAccess, ForgeKind, Patience, Validators } from '../forge.ts';
import { keepOneComment } from '../one-comment.ts';
import { gather } from '../pages.ts';
import { encodedPath, type RepositoryName, repositoryOf, withoutSlash } from '../repository.ts';
import { type AppCredentials, appAuthorization } from './app.ts';

/** GitHub and GitHub Enterprise, by a token or as an App. */
export const gitHub: ForgeKind = { accepts: ['token', 'app'], open: openGitHub };

/** What we need of `pulls/list`. */
export const gitHubPulls = Type.Array(
  Type.Object({
    number: Type.Integer(),
    title: Type.String(),
    html_url: Type.String(),
    draft: Type.Optional(Type.Boolean()),
    user: Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]),
    labels: Type.Array(Type.Object({ name: Type.String() })),
    head: Type.Object({ sha: Type.String(), repo: Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]) }),
    base: Type.Object({ ref: Type.String(), repo: Type.Object({ id: Type.Number() }) }),
  }),
);

/** What we need of `issues/list-comments`. */
export const gitHubComments = Type.Array(
  Type.Object({
    id: Type.Number(),
    body: Type.Optional(Type.String()),
    user: Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]),
    performed_via_github_app: Type.Optional(
      Type.Union([Type.Object({ id: Type.Number(), client_id: Type.Optional(Type.String()) }), Type.Null()]),
    ),
  }),
);

/** What we need of `git/list-matching-refs`. */
export const gitHubRefs = Type.Array(Type.Object({ ref: Type.String(), object: Type.Object({ sha: Type.String() }) }));

/** What we need of `repos/get-combined-status-for-ref`. */
export const gitHubStatuses = Type.Object({
  statuses: Type.Array(Type.Object({ context: Type.String(), state: Type.String() })),
});

export const gitHubUser = Type.Object({ id: Type.Number() });

const pageSize = 50;
const mostStatuses = 100;
/** Of a status; Gitea has the same. */
export const failures: ReadonlySet<string> = new Set(['failure', 'error']);

function openGitHub(access: ForgeAccess): Forge {
  const repository = repositoryOf(access.gitUrl);
  const { base, owner, name } = repository;
  const address = withoutSlash(access.apiURL ?? apiOf(repository));
  const api = apiAt({
    ...access,
    address,
    accept: 'application/vnd.github+json',
    authorize: identity(access, address, name),
  });
  const path = `/repos${encodedPath([owner, name])}`;
  const web = `${base}${encodedPath([owner, name])}`;
  const listOf = (target: string, page: number) =>
    `${path}/pulls?state=open&sort=created&direction=desc&base=${encodeURIComponent(target)}&per_page=${pageSize}&page=${page}`;
  const queueOf = (target: string) =>
    `${path}/git/matching-refs/${encodedPath(`${queues}${target}/`.split('/')).slice(1)}`;
  return {
    address,
    async post(status, { signal }) {
      await api.send('POST', `${path}/statuses/${status.sha}`, gitHubStatus(status), { purpose: 'statuses', signal });
    },
    // Only people with the role triage, or more, set labels.
    labelProof: 'always',
    openRequests: (target, { signal, from = 1 }) =>
      gather(from, async (page) => {
        const { value, headers } = await api.get(listOf(target, page), gitHubPulls, { purpose: 'requests', signal });
        const requests = value.flatMap(({ number, title, html_url, draft, user, labels, head, base: { ref, repo } }) =>
          changeRequests({
            number,
            title,
            url: html_url,
            page: `${web}/pull/${number}`,
            headSha: head.sha,
            headRef: `refs/pull/${number}/head`,
            target: ref,
            fork: head.repo?.id !== repo.id,
            draft: draft === true,
            author: user?.id,
            labels: labels.map(({ name: label }) => label),
          }),
        );
        // Of a list that begins elsewhere nothing is known of what is before it.
        const validator = page === 1 ? headers.etag : undefined;
        return { requests, next: value.length < pageSize ? undefined : page + 1, validator };
      }),
    failedStatus: (sha, contexts, { signal }) =>
      failedAmong(address, contexts, async (page) => {
        const list = `${path}/commits/${sha}/status?per_page=${mostStatuses}&page=${page}`;
        const { statuses } = (await api.get(list, gitHubStatuses, { purpose: 'readStatuses', signal })).value;
        const told = statuses.map(({ context, state }) => ({ contexts: [context], isFailed: failures.has(state) }));
        return { told, isLast: statuses.length < mostStatuses };
      }),
    async queued(target, { signal }) {
      const { value, headers } = await api.get(queueOf(target), gitHubRefs, { purpose: 'requests', signal });
      const refs = value.slice(0, mostQueued);
      const commits = refs.flatMap(({ ref, object: { sha } }) => queuedCommit({ ref, sha, target, web }));
      return { commits, validator: headers.etag };
    },
    async comment({ number }, comment, { signal }) {
      const call: Call = { purpose: 'comments', signal };
      const isOurs = await authorship(api, access, call);
      await keepOneComment(
        {
          address,
          async page(page) {
            const found = await api.get(
              `${path}/issues/${number}/comments?per_page=${pageSize}&page=${page}`,
              gitHubComments,
              call,
            );
            const comments = found.value.map((one) => ({ id: one.id, body: one.body ?? '', ours: isOurs(one) }));
            return { comments, last: comments.length < pageSize };
          },
          create: (body) => api.send('POST', `${path}/issues/${number}/comments`, { body }, call),
          update: (id, body) => api.send('PATCH', `${path}/issues/comments/${id}`, { body }, call),
        },
        comment,
      );
    },
    commitUrl: (sha) => `${web}/commit/${sha}`,
    ...(access.credentials.kind !== 'app' && { isUnchanged }),
  };

  /**
   * GitHub does not count such a request where nothing changed ("Best practices for using the REST API"). Its ETags are
   * of one token, and an App has another one at each look.
   */
  async function isUnchanged(target: string, { list, queue }: Validators, { signal }: Patience): Promise<boolean> {
    const call: Call = { purpose: 'requests', signal };
    if (!(await api.isUnchanged(listOf(target, 1), list, call))) return false;
    return queue === undefined || (await api.isUnchanged(queueOf(target), queue, call));
  }
}

/** Below it lies a branch for each commit that a merge queue made, as `main/pr-17-<the commit it was made on>`. */
const queues = 'heads/gh-readonly-queue/';
const mostQueued = 100;

function queuedCommit({ ref, sha, target, web }: Readonly<Record<'ref' | 'sha' | 'target' | 'web', string>>) {
  const number = /\/pr-(\d+)-[0-9a-f]{40}$/.exec(ref)?.[1];
  if (number === undefined || !ref.startsWith(`refs/${queues}${target}/`)) return [];
  const page = `${web}/queue/${target}`;
  const told = { number: Number(number), title: 'in the merge queue', url: page, page, headSha: sha, headRef: ref };
  return changeRequests({ ...told, target, fork: false, draft: false, author: undefined, labels: [] }).map(
    (request): ChangeRequest => ({ ...request, queued: true }),
  );
}

/** The body of a status; Gitea takes the same. */
export function gitHubStatus({ state, context, description, targetURL }: CommitStatus) {
  return { state, context, description, ...(targetURL ? { target_url: targetURL } : {}) };
}

function apiOf({ base, host }: RepositoryName): string {
  if (host === 'github.com' || host === 'www.github.com') return 'https://api.github.com';
  // Enterprise Cloud with data residency has its API beside it, Enterprise Server below it.
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `${base}/api/v3`;
}

/** A token by which an App may read the repository with Git, and nothing else, for an hour. @throws ForgeError */
export async function gitHubReadToken(
  access: Omit<ForgeAccess, 'credentials'> & { readonly credentials: AppCredentials },
  signal: AbortSignal,
): Promise<string> {
  const repository = repositoryOf(access.gitUrl);
  const place = { ...access, address: withoutSlash(access.apiURL ?? apiOf(repository)), repository: repository.name };
  return await appAuthorization(access.credentials, place)({ purpose: 'contents', signal });
}

type Authorize = (call: Call) => Promise<Record<string, string>>;

function identity(access: ForgeAccess, address: string, repository: string): Authorize {
  const { credentials } = access;
  const version = { 'x-github-api-version': '2022-11-28' };
  if (credentials.kind !== 'app') {
    const headers = { authorization: `Bearer ${tokenOf(credentials)}`, ...version };
    return () => Promise.resolve(headers);
  }
  const tokenFor = appAuthorization(credentials, { ...access, address, repository });
  return async (call) => ({ authorization: `Bearer ${await tokenFor(call)}`, ...version });
}

type ToldComment = Type.Static<typeof gitHubComments>[number];

/** An App may not ask who it is, and need not: GitHub notes on each comment by which App it came. */
async function authorship(
  api: Api,
  { credentials }: ForgeAccess,
  call: Call,
): Promise<(comment: ToldComment) => boolean> {
  if (credentials.kind === 'app') {
    const { appId } = credentials;
    return ({ performed_via_github_app: app }) => app?.client_id === appId || String(app?.id) === appId;
  }
  const { id } = (await api.get('/user', gitHubUser, call)).value;
  return ({ user }) => user?.id === id;
}
