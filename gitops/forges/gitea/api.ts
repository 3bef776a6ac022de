import Type from 'typebox';
import { apiAt, type Call } from '../api.ts';
import { changeRequests } from '../change-request.ts';
import { basicOrToken } from '../credentials.ts';
import type { Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import { gitHubStatus } from '../github/api.ts';
import { keepOneComment } from '../one-comment.ts';
import { gather } from '../pages.ts';
import { encodedPath, repositoryOf, withoutSlash } from '../repository.ts';

/** Gitea and Forgejo. */
export const gitea: ForgeKind = { accepts: ['token', 'basic'], open: openGitea };

export const giteaPulls = Type.Array(
  Type.Object({
    number: Type.Integer(),
    title: Type.String(),
    html_url: Type.String(),
    draft: Type.Optional(Type.Boolean()),
    head: Type.Object({ sha: Type.String(), repo_id: Type.Integer() }),
    base: Type.Object({ ref: Type.String(), repo_id: Type.Integer() }),
  }),
);

export const giteaComments = Type.Array(
  Type.Object({
    id: Type.Integer(),
    body: Type.String(),
    user: Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()]),
  }),
);

export const giteaUser = Type.Object({ id: Type.Integer() });

/** Servers cut a page to what their owner allows: 50 unless told otherwise, so a short page need not be the last. */
const pageSize = 50;

function openGitea(access: ForgeAccess): Forge {
  const { base, owner, name } = repositoryOf(access.gitUrl);
  const address = withoutSlash(access.apiURL ?? `${base}/api/v1`);
  const api = apiAt({ ...access, address, authorize: basicOrToken(access.credentials, 'token') });
  const path = `/repos${encodedPath([owner, name])}`;
  const web = `${base}${encodedPath([owner, name])}`;
  return {
    address,
    async post(status, { signal }) {
      await api.send('POST', `${path}/statuses/${status.sha}`, gitHubStatus(status), { purpose: 'statuses', signal });
    },
    openRequests: (target, { signal }) =>
      gather(1, async (page) => {
        // Newer servers filter by base_branch; older ones and Forgejo leave it aside, and we look ourselves.
        const query = `state=open&base_branch=${encodeURIComponent(target)}&page=${page}&limit=${pageSize}`;
        const { value } = await api.get(`${path}/pulls?${query}`, giteaPulls, { purpose: 'requests', signal });
        const requests = value
          .filter((pull) => pull.base.ref === target)
          .flatMap(({ number, title, html_url, draft, head, base: { ref, repo_id } }) =>
            changeRequests({
              number,
              title,
              url: html_url,
              page: `${web}/pulls/${number}`,
              headSha: head.sha,
              headRef: `refs/pull/${number}/head`,
              target: ref,
              fork: head.repo_id !== repo_id,
              draft: draft ?? /^(\[wip\]|wip:)/i.test(title),
            }),
          );
        return { requests, next: value.length === 0 ? undefined : page + 1 };
      }),
    async comment({ number }, comment, { signal }) {
      const call: Call = { purpose: 'comments', signal };
      const { id: me } = (await api.get('/user', giteaUser, call)).value;
      await keepOneComment(
        {
          address,
          // All at once: this list has no pages.
          async page() {
            const { value } = await api.get(`${path}/issues/${number}/comments`, giteaComments, call);
            return { comments: value.map(({ id, body, user }) => ({ id, body, ours: user?.id === me })), last: true };
          },
          create: (body) => api.send('POST', `${path}/issues/${number}/comments`, { body }, call),
          update: (id, body) => api.send('PATCH', `${path}/issues/comments/${id}`, { body }, call),
        },
        comment,
      );
    },
    commitUrl: (sha) => `${web}/commit/${sha}`,
  };
}
