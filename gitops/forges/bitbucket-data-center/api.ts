import Type from 'typebox';
import { apiAt } from '../api.ts';
import { bitbucketBuild, bitbucketStatus, bitbucketTold } from '../bitbucket-status.ts';
import { changeRequests } from '../change-request.ts';
import { basicOrToken } from '../credentials.ts';
import { ForgeError } from '../error.ts';
import { failedAmong } from '../failed-status.ts';
import type { Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import { gather } from '../pages.ts';
import { cannotTell, encodedPath, partsOf, withoutSlash } from '../repository.ts';
import { sendStatus } from '../status-address.ts';

/** Bitbucket Data Center (from 7.14), by an HTTP access token or a user name and password. */
export const bitbucketDataCenter: ForgeKind = { accepts: ['token', 'basic'], open: openBitbucketDataCenter };

const repository = Type.Object({ id: Type.Integer() });

export const bitbucketDataCenterRequests = Type.Object({
  values: Type.Array(
    Type.Object({
      id: Type.Integer(),
      title: Type.String(),
      draft: Type.Optional(Type.Boolean()),
      author: Type.Optional(Type.Object({ user: Type.Object({ id: Type.Integer() }) })),
      fromRef: Type.Object({ latestCommit: Type.String(), repository }),
      toRef: Type.Object({ id: Type.String(), repository }),
      links: Type.Optional(Type.Object({ self: Type.Optional(Type.Array(Type.Object({ href: Type.String() }))) })),
    }),
  ),
  isLastPage: Type.Boolean(),
  nextPageStart: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
});

const pageSize = 50;

function openBitbucketDataCenter(access: ForgeAccess): Forge {
  const { base, project, name } = locate(access.gitUrl);
  const address = withoutSlash(access.apiURL ?? `${base}/rest/api/latest`);
  const authorization = basicOrToken(access.credentials, 'Bearer');
  // Without it, some versions take a request that is no browser's for a forged one.
  const authorize = () => ({ ...authorization(), 'x-atlassian-token': 'no-check' });
  const api = apiAt({ ...access, address, authorize });
  const path = `/projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(name)}`;
  const web = `${base}${path}`;
  const commitUrl = (sha: string) => `${web}/commits/${sha}`;
  return {
    address,
    async post(status, { signal }) {
      const bodies = bitbucketStatus(status, commitUrl(status.sha));
      await sendStatus(api, `${path}/commits/${status.sha}/builds`, bodies, { purpose: 'statuses', signal });
    },
    failedStatus: (sha, contexts, { signal }) =>
      failedAmong(address, contexts, async (page) => {
        const key = contexts[page - 1] ?? '';
        const build = `${path}/commits/${sha}/builds?key=${encodeURIComponent(key)}`;
        const told = await api.get(build, bitbucketBuild, { purpose: 'readStatuses', signal }).then(
          ({ value }) => [bitbucketTold(value)],
          async (error: unknown) => {
            if (!(error instanceof ForgeError) || error.reason !== 'RepositoryNotFound') throw error;
            // It says the same of a key that no build has, and of a repository that is not there.
            await api.get(path, repository, { purpose: 'readStatuses', signal });
            return [];
          },
        );
        return { told, isLast: page >= contexts.length };
      }),
    openRequests: (target, { signal, from = 0 }) =>
      gather(from, async (start) => {
        const at = encodeURIComponent(`refs/heads/${target}`);
        const query = `state=OPEN&direction=INCOMING&at=${at}&order=NEWEST&limit=${pageSize}&start=${start}`;
        const { value } = await api.get(`${path}/pull-requests?${query}`, bitbucketDataCenterRequests, {
          purpose: 'requests',
          signal,
        });
        const requests = value.values.flatMap(({ id, title, draft, author, links, fromRef, toRef }) =>
          changeRequests({
            number: id,
            title,
            url: links?.self?.[0]?.href ?? '',
            page: `${web}/pull-requests/${id}`,
            headSha: fromRef.latestCommit,
            headRef: `refs/pull-requests/${id}/from`,
            target: toRef.id.replace(/^refs\/heads\//, ''),
            fork: fromRef.repository.id !== toRef.repository.id,
            draft: draft === true,
            author: author?.user.id,
            labels: [],
          }),
        );
        return { requests, next: value.isLastPage ? undefined : (value.nextPageStart ?? undefined) };
      }),
    commitUrl,
  };
}

/** `https://host/context/scm/PROJECT/repository.git`; a person's own repositories are in the project `~name`. */
function locate(gitUrl: string): { readonly base: string; readonly project: string; readonly name: string } {
  const { url, segments } = partsOf(gitUrl);
  const [scm, project, name] = segments.slice(-3);
  if (!url || scm !== 'scm' || !project || !name) throw cannotTell(gitUrl, '/scm/<project>/<repository>.git');
  return { base: `${url.origin}${encodedPath(segments.slice(0, -3))}`, project, name };
}
