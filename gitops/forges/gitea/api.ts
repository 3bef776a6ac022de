import Type, { type Static } from 'typebox';
import { forkLabel } from '../../../manifests/api/etcd-fleet.ts';
import { apiAt, type Call } from '../api.ts';
import { changeRequests } from '../change-request.ts';
import { basicOrToken } from '../credentials.ts';
import { failedAmong } from '../failed-status.ts';
import type { Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import { failures, gitHubStatus } from '../github/api.ts';
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
    user: Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()]),
    labels: Type.Optional(Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()])),
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

/** The newest of each context. */
export const giteaStatuses = Type.Object({
  statuses: Type.Union([Type.Array(Type.Object({ context: Type.String(), status: Type.String() })), Type.Null()]),
});

export const giteaUser = Type.Object({ id: Type.Integer() });

/** What we need of the timeline of an issue: events of all kinds, oldest first. */
export const giteaTimeline = Type.Union([
  Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.String(),
      /** Of an event `label`: 1 if it was set. */
      body: Type.String(),
      user: Type.Union([Type.Object({ id: Type.Integer() }), Type.Null()]),
      label: Type.Optional(Type.Union([Type.Object({ name: Type.String() }), Type.Null()])),
    }),
  ),
  // After the last page.
  Type.Null(),
]);

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
    labelProof: {
      async asks({ number, author }, { signal }) {
        const call: Call = { purpose: 'requests', signal };
        const timeline = `${path}/issues/${number}/timeline?limit=${pageSize}`;
        const page = async (at: number) => (await api.get(`${timeline}&page=${at}`, giteaTimeline, call)).value;
        return await isLabelledByOther(author, page);
      },
    },
    openRequests: (target, { signal, from = 1 }) =>
      gather(from, async (page) => {
        // Newer servers filter by base_branch; older ones and Forgejo leave it aside, and we look ourselves.
        const query = `state=open&base_branch=${encodeURIComponent(target)}&page=${page}&limit=${pageSize}`;
        const { value } = await api.get(`${path}/pulls?${query}`, giteaPulls, { purpose: 'requests', signal });
        const requests = value
          .filter((pull) => pull.base.ref === target)
          .flatMap(({ number, title, html_url, draft, user, labels, head, base: { ref, repo_id } }) =>
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
              author: user?.id,
              labels: (labels ?? []).map(({ name: label }) => label),
            }),
          );
        return { requests, next: value.length === 0 ? undefined : page + 1 };
      }),
    failedStatus: (sha, contexts, { signal }) =>
      failedAmong(address, contexts, async (page) => {
        const list = `${path}/commits/${sha}/status?page=${page}&limit=${pageSize}`;
        const statuses = (await api.get(list, giteaStatuses, { purpose: 'readStatuses', signal })).value.statuses ?? [];
        const told = statuses.map(({ context, status }) => ({ contexts: [context], isFailed: failures.has(status) }));
        return { told, isLast: statuses.length === 0 };
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

const mostTimelinePages = 4;

/**
 * Its API takes labels from every author of a new request, whatever that person may do in the repository: what counts
 * is who set the label last. In a timeline too long to read, which strangers can make, it counts as not set.
 */
async function isLabelledByOther(
  author: string,
  page: (at: number) => Promise<Static<typeof giteaTimeline>>,
): Promise<boolean> {
  let isByOther = false;
  let last = 0;
  for (let at = 1; at <= mostTimelinePages; at++) {
    const events = (await page(at)) ?? [];
    // A server may know no pages, and tell all of it again.
    if (events.every(({ id }) => id <= last)) return isByOther;
    last = Math.max(...events.map(({ id }) => id));
    for (const { type, body, user, label } of events) {
      if (type !== 'label' || label?.name !== forkLabel) continue;
      isByOther = body === '1' && user !== null && String(user.id) !== author;
    }
  }
  return false;
}
