import Type from 'typebox';
import { apiAt, type Call } from '../api.ts';
import { changeRequests } from '../change-request.ts';
import { tokenOf } from '../credentials.ts';
import { failedAmong } from '../failed-status.ts';
import type { CommitState, CommitStatus, Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import type { ForgeAnswer } from '../http.ts';
import { keepOneComment } from '../one-comment.ts';
import { gather } from '../pages.ts';
import { cannotTell, encodedPath, partsOf, withoutSlash } from '../repository.ts';
import { sendStatus } from '../status-address.ts';

/** gitlab.com and self-managed GitLab, by a personal, group or project access token. */
export const gitLab: ForgeKind = { accepts: ['token'], open: openGitLab };

export const gitLabRequests = Type.Array(
  Type.Object({
    iid: Type.Integer(),
    title: Type.String(),
    web_url: Type.String(),
    // Null while GitLab has not looked at the branch yet, or it is gone.
    sha: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    target_branch: Type.String(),
    source_project_id: Type.Union([Type.Integer(), Type.Null()]),
    target_project_id: Type.Integer(),
    draft: Type.Optional(Type.Boolean()),
    author: Type.Optional(Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()])),
    labels: Type.Optional(Type.Array(Type.String())),
  }),
);

export const gitLabNotes = Type.Array(
  Type.Object({ id: Type.Integer(), body: Type.String(), author: Type.Object({ id: Type.Integer() }) }),
);

/** Jobs of pipelines are among them; of a name there is one for each pipeline. */
export const gitLabStatuses = Type.Array(
  Type.Object({ id: Type.Integer(), name: Type.String(), status: Type.String() }),
);

export const gitLabUser = Type.Object({ id: Type.Integer() });

const states = {
  pending: 'pending',
  success: 'success',
  failure: 'failed',
  error: 'failed',
} as const satisfies Record<CommitState, string>;

const pageSize = 50;
const mostStatuses = 100;
/** Longer ones are refused, and a shortened address leads nowhere. */
const longestTargetUrl = 255;

function openGitLab(access: ForgeAccess): Forge {
  const { base, project } = projectOf(access);
  const address = withoutSlash(access.apiURL ?? `${base}/api/v4`);
  const authorization = `Bearer ${tokenOf(access.credentials)}`;
  const api = apiAt({ ...access, address, authorize: () => ({ authorization }) });
  // One segment, whatever groups the project is in.
  const path = `/projects/${encodeURIComponent(project.join('/'))}`;
  const web = `${base}${encodedPath(project)}`;
  return {
    address,
    async post(status, { signal }) {
      const call: Call = { purpose: 'statuses', signal };
      const body = gitLabStatus(status);
      const { target_url: address, ...without } = body;
      const otherwise = address && without;
      await sendStatus(api, `${path}/statuses/${status.sha}`, { body, otherwise }, call, saysSoAlready);
    },
    // Those of an author who may not set labels are left out, also when the request is made.
    labelProof: 'always',
    openRequests: (target, { signal, from = 1 }) =>
      gather(from, async (page) => {
        const query = `state=opened&target_branch=${encodeURIComponent(target)}&order_by=created_at&sort=desc&per_page=${pageSize}&page=${page}`;
        const { value } = await api.get(`${path}/merge_requests?${query}`, gitLabRequests, {
          purpose: 'requests',
          signal,
        });
        const requests = value.flatMap(({ iid, title, web_url, sha, draft, author, labels, ...request }) =>
          changeRequests({
            number: iid,
            title,
            url: web_url,
            page: `${web}/-/merge_requests/${iid}`,
            headSha: sha,
            headRef: `refs/merge-requests/${iid}/head`,
            target: request.target_branch,
            fork: request.source_project_id !== request.target_project_id,
            draft: draft === true,
            author: author?.id,
            labels: labels ?? [],
          }),
        );
        return { requests, next: value.length < pageSize ? undefined : page + 1 };
      }),
    async failedStatus(sha, contexts, { signal }) {
      for (const context of contexts) {
        const named = `${path}/repository/commits/${sha}/statuses?name=${encodeURIComponent(context)}`;
        const failed = await failedAmong(address, [context], async (page) => {
          const list = `${named}&per_page=${mostStatuses}&page=${page}`;
          const { value } = await api.get(list, gitLabStatuses, { purpose: 'readStatuses', signal });
          const told = value.map(({ id, name, status }) => ({
            contexts: [name],
            isFailed: status === states.failure,
            at: id,
          }));
          return { told, isLast: value.length < mostStatuses };
        });
        if (failed !== undefined) return failed;
      }
      return undefined;
    },
    async comment({ number }, comment, { signal }) {
      const call: Call = { purpose: 'comments', signal };
      const { id: me } = (await api.get('/user', gitLabUser, call)).value;
      const notes = `${path}/merge_requests/${number}/notes`;
      await keepOneComment(
        {
          address,
          async page(page) {
            const query = `sort=asc&order_by=created_at&per_page=${pageSize}&page=${page}`;
            const { value } = await api.get(`${notes}?${query}`, gitLabNotes, call);
            const comments = value.map(({ id, body, author }) => ({ id, body, ours: author.id === me }));
            return { comments, last: comments.length < pageSize };
          },
          create: (body) => api.send('POST', notes, { body }, call),
          update: (id, body) => api.send('PUT', `${notes}/${id}`, { body }, call),
        },
        comment,
      );
    },
    commitUrl: (sha) => `${web}/-/commit/${sha}`,
  };
}

export function gitLabStatus({ state, context, description, targetURL }: CommitStatus) {
  const fits = targetURL !== undefined && targetURL.length <= longestTargetUrl;
  return { state: states[state], name: context, description, ...(fits ? { target_url: targetURL } : {}) };
}

/** A status that is in this state already: GitLab calls that a transition that it cannot make. */
function saysSoAlready({ status, body }: ForgeAnswer): boolean {
  return status === 400 && body.includes('Cannot transition status via');
}

/** Projects lie in groups of groups. If GitLab lies below a path of its host, only the API's address tells the two. */
function projectOf({ gitUrl, apiURL }: ForgeAccess): { readonly base: string; readonly project: readonly string[] } {
  const { url, segments } = partsOf(gitUrl);
  const below = apiURL === undefined ? [] : partsOf(apiURL).segments.slice(0, -2);
  const prefixed = below.every((segment, index) => segments[index] === segment) ? below : [];
  const project = segments.slice(prefixed.length);
  if (!url || project.length < 2) throw cannotTell(gitUrl, '/<group>/<project>');
  return { base: `${url.origin}${encodedPath(prefixed)}`, project };
}
