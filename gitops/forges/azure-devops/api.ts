import Type from 'typebox';
import { type Api, apiAt, type Call } from '../api.ts';
import { changeRequests } from '../change-request.ts';
import { basic, tokenOf } from '../credentials.ts';
import { ForgeError } from '../error.ts';
import { failedAmong } from '../failed-status.ts';
import type { CommitState, CommitStatus, Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import { gather } from '../pages.ts';
import { cannotTell, encodedPath, partsOf, withoutSlash } from '../repository.ts';

/** Azure DevOps Services, and Server from 2022, by a personal access token. */
export const azureDevOps: ForgeKind = { accepts: ['token'], open: openAzureDevOps };

export const azureDevOpsRequests = Type.Object({
  value: Type.Array(
    Type.Object({
      pullRequestId: Type.Integer(),
      title: Type.String(),
      isDraft: Type.Optional(Type.Boolean()),
      createdBy: Type.Optional(Type.Object({ id: Type.String() })),
      sourceRefName: Type.String(),
      targetRefName: Type.String(),
      lastMergeSourceCommit: Type.Optional(Type.Object({ commitId: Type.String() })),
      forkSource: Type.Optional(Type.Union([Type.Object({}), Type.Null()])),
    }),
  ),
});

const states = {
  pending: 'pending',
  success: 'succeeded',
  failure: 'failed',
  error: 'error',
} as const satisfies Record<CommitState, string>;

export const azureDevOpsIterations = Type.Object({
  value: Type.Array(Type.Object({ id: Type.Integer(), sourceRefCommit: Type.Object({ commitId: Type.String() }) })),
});

export const azureDevOpsStatuses = Type.Object({
  value: Type.Array(
    Type.Object({
      state: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      context: Type.Object({
        name: Type.String(),
        genre: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      }),
    }),
  ),
});

const failures: ReadonlySet<string> = new Set([states.failure, states.error]);

/** What Server 2022 speaks as well as the service. */
const version = 'api-version=7.0';
const pageSize = 50;
const mostStatuses = 100;

function openAzureDevOps(access: ForgeAccess): Forge {
  const { collection, project, name } = locate(access);
  const address = withoutSlash(access.apiURL ?? collection);
  // Any user name will do. Without the other header, who is not known is led to a sign-in page instead of being told
  // so.
  const headers = { authorization: basic('', tokenOf(access.credentials)), 'x-tfs-fedauthredirect': 'Suppress' };
  const api = apiAt({ ...access, address, authorize: () => headers });
  const path = `${encodedPath([project])}/_apis/git/repositories${encodedPath([name])}`;
  const web = `${collection}${encodedPath([project, '_git', name])}`;
  return {
    address,
    tellsRequests: true,
    async post(status, { signal }) {
      const call: Call = { purpose: 'statuses', signal };
      const body = azureDevOpsStatus(status);
      if (status.request === undefined) {
        await api.send('POST', `${path}/commits/${status.sha}/statuses?${version}`, body, call);
        return;
      }
      // Neither a request's page nor its policies look at its commits.
      const request = `${path}/pullRequests/${encodeURIComponent(status.request)}`;
      const iterationId = await iterationOf(api, request, status.sha, call);
      await api.send('POST', `${request}/statuses?${version}`, { ...body, iterationId }, call);
    },
    failedStatus: (sha, contexts, { signal }) =>
      failedAmong(address, contexts, async (page) => {
        const from = `latestOnly=true&top=${mostStatuses}&skip=${(page - 1) * mostStatuses}`;
        const list = `${path}/commits/${sha}/statuses?${from}&${version}`;
        const { value } = (await api.get(list, azureDevOpsStatuses, { purpose: 'readStatuses', signal })).value;
        const told = value.map(({ state, context: { genre, name } }) => ({
          contexts: [genre ? `${genre}/${name}` : name],
          isFailed: failures.has(state ?? ''),
        }));
        return { told, isLast: value.length < mostStatuses };
      }),
    openRequests: (target, { signal, from = 0 }) =>
      gather(from, async (skip) => {
        const ref = encodeURIComponent(`refs/heads/${target}`);
        const query = `searchCriteria.status=active&searchCriteria.targetRefName=${ref}&$top=${pageSize}&$skip=${skip}&${version}`;
        const { value } = await api.get(`${path}/pullrequests?${query}`, azureDevOpsRequests, {
          purpose: 'requests',
          signal,
        });
        const requests = value.value.flatMap(({ pullRequestId, title, isDraft, createdBy, forkSource, ...request }) => {
          const page = `${web}/pullrequest/${pullRequestId}`;
          return changeRequests({
            number: pullRequestId,
            title,
            url: page,
            page,
            headSha: request.lastMergeSourceCommit?.commitId,
            headRef: forkSource ? undefined : request.sourceRefName,
            target: request.targetRefName.replace(/^refs\/heads\//, ''),
            fork: Boolean(forkSource),
            draft: isDraft === true,
            author: createdBy?.id,
            // Every person who may read the repository may set them.
            labels: [],
          });
        });
        return { requests, next: value.value.length < pageSize ? undefined : skip + pageSize };
      }),
    commitUrl: (sha) => `${web}/commit/${sha}`,
  };
}

/** Each push is an iteration; a policy may ask of which one a status speaks. @throws ForgeError StatusRejected */
async function iterationOf(api: Api, request: string, sha: string, call: Call): Promise<number> {
  const { value } = await api.get(`${request}/iterations?${version}`, azureDevOpsIterations, call);
  const found = value.value.findLast(({ sourceRefCommit }) => sourceRefCommit.commitId === sha);
  if (found) return found.id;
  throw new ForgeError('StatusRejected', `${api.address} has no iteration of that pull request with commit ${sha}`);
}

/** Azure shows `genre/name`: the part before the first slash, and the rest. */
function azureDevOpsStatus({ state, context, description, targetURL }: CommitStatus) {
  const slash = context.indexOf('/');
  const [genre, name] = slash > 0 ? [context.slice(0, slash), context.slice(slash + 1)] : ['etcd-ratchet', context];
  return {
    state: states[state],
    description,
    context: { genre, name },
    ...(targetURL ? { targetUrl: targetURL } : {}),
  };
}

/**
 * `https://dev.azure.com/<organization>/<project>/_git/<repository>`, and other addresses of a repository. The first
 * repository has its project's name, and its address may leave out the project.
 */
function locate({ gitUrl, apiURL }: ForgeAccess): {
  readonly collection: string;
  readonly project: string;
  readonly name: string;
} {
  const { url, segments } = partsOf(gitUrl);
  const name = segments.at(-1);
  if (!url || !name || segments.at(-2) !== '_git') throw cannotTell(gitUrl, '/<project>/_git/<repository>');
  const before = segments.slice(0, -2);
  const depth = collectionDepth(url, before, apiURL);
  const project = before[depth] ?? name;
  return { collection: `${url.origin}${encodedPath(before.slice(0, depth))}`, project, name };
}

/** How many names the collection's address has. */
function collectionDepth({ hostname }: URL, before: readonly string[], apiURL: string | undefined): number {
  if (apiURL !== undefined) return partsOf(apiURL).segments.length;
  if (hostname === 'dev.azure.com') return 1;
  if (hostname.endsWith('.visualstudio.com')) return before[0]?.toLowerCase() === 'defaultcollection' ? 1 : 0;
  return Math.max(0, before.length - 1);
}
