import { createHash } from 'node:crypto';
import Type from 'typebox';
import { type Api, apiAt, type Call } from '../api.ts';
import { bitbucketBuild, bitbucketStatus, bitbucketTold } from '../bitbucket-status.ts';
import { changeRequests } from '../change-request.ts';
import { basicOrToken } from '../credentials.ts';
import { failedAmong } from '../failed-status.ts';
import type { ChangeRequest, Forge, ForgeAccess, ForgeKind } from '../forge.ts';
import { type FoundPage, gather } from '../pages.ts';
import { encodedPath, repositoryOf, withoutSlash } from '../repository.ts';
import { sendStatus } from '../status-address.ts';

/** bitbucket.org, by an access token, or by an account's e-mail address and API token. */
export const bitbucketCloud: ForgeKind = { accepts: ['token', 'basic'], open: openBitbucketCloud };

const endpoint = Type.Object({
  branch: Type.Object({ name: Type.String() }),
  // Null when the fork is gone.
  commit: Type.Optional(Type.Union([Type.Object({ hash: Type.String() }), Type.Null()])),
  repository: Type.Optional(Type.Union([Type.Object({ full_name: Type.String() }), Type.Null()])),
});

export const bitbucketCloudRequests = Type.Object({
  values: Type.Array(
    Type.Object({
      id: Type.Integer(),
      title: Type.String(),
      draft: Type.Optional(Type.Boolean()),
      updated_on: Type.Optional(Type.String()),
      author: Type.Optional(Type.Union([Type.Object({ uuid: Type.Optional(Type.String()) }), Type.Null()])),
      links: Type.Object({ html: Type.Object({ href: Type.String() }) }),
      source: endpoint,
      destination: endpoint,
    }),
  ),
  next: Type.Optional(Type.String()),
});

export const bitbucketCloudStatuses = Type.Object({
  values: Type.Array(bitbucketBuild),
  next: Type.Optional(Type.String()),
});

type ToldPage = Type.Static<typeof bitbucketCloudRequests>;
type Told = ToldPage['values'][number];

export const bitbucketCloudCommits = Type.Object({ values: Type.Array(Type.Object({ hash: Type.String() })) });

const pageSize = 50;
const mostStatuses = 100;
/** Each of the requests in a page takes another request. */
const mostPages = 2;
/** Requests under way at once. */
const lanes = 5;

function openBitbucketCloud(access: ForgeAccess): Forge {
  const { base, owner, name } = repositoryOf(access.gitUrl);
  const address = withoutSlash(access.apiURL ?? 'https://api.bitbucket.org/2.0');
  const api = apiAt({ ...access, address, authorize: basicOrToken(access.credentials, 'Bearer') });
  const path = `/repositories${encodedPath([owner, name])}`;
  const web = `${base}${encodedPath([owner, name])}`;
  const commitUrl = (sha: string) => `${web}/commits/${sha}`;
  async function pageOf(target: string, page: number, call: Call): Promise<ToldPage> {
    const only = `destination.branch.name=${JSON.stringify(target)}`;
    const query = `state=OPEN&q=${encodeURIComponent(only)}&sort=-created_on&pagelen=${pageSize}&page=${page}`;
    return (await api.get(`${path}/pullrequests?${query}`, bitbucketCloudRequests, call)).value;
  }
  return {
    address,
    async post(status, { signal }) {
      const bodies = bitbucketStatus(status, commitUrl(status.sha));
      await sendStatus(api, `${path}/commit/${status.sha}/statuses/build`, bodies, { purpose: 'statuses', signal });
    },
    failedStatus: (sha, contexts, { signal }) =>
      failedAmong(address, contexts, async (page) => {
        const list = `${path}/commit/${sha}/statuses?pagelen=${mostStatuses}&page=${page}`;
        const { value } = await api.get(list, bitbucketCloudStatuses, { purpose: 'readStatuses', signal });
        return { told: value.values.map(bitbucketTold), isLast: value.next === undefined };
      }),
    async openRequests(target, { signal, from = 1 }) {
      const call: Call = { purpose: 'requests', signal };
      async function read(page: number): Promise<FoundPage> {
        const found = await pageOf(target, page, call);
        const heads = await inLanes(found.values, (told) => headOf(api, path, told, call));
        const requests = found.values.flatMap((told, index) => toRequest(told, web, heads[index]));
        const next = found.next === undefined ? undefined : page + 1;
        // A push between the two looks is news to the next one.
        const isWhole = page === 1 && found.values.every(({ source }, index) => !source.commit || heads[index]);
        return { requests, next, validator: isWhole ? validatorOf(found) : undefined };
      }
      return await gather(from, read, mostPages);
    },
    async isUnchanged(target, { list }, { signal }) {
      return validatorOf(await pageOf(target, 1, { purpose: 'requests', signal })) === list;
    },
    commitUrl,
  };
}

function toRequest(
  { id, title, draft, author, links, source, destination }: Told,
  web: string,
  headSha: string | undefined,
): ChangeRequest[] {
  const fork = !source.repository || source.repository.full_name !== destination.repository?.full_name;
  return changeRequests({
    number: id,
    title,
    url: links.html.href,
    page: `${web}/pull-requests/${id}`,
    headSha,
    // There are no refs for requests, and a branch of this name in the target is another one.
    headRef: fork ? undefined : `refs/heads/${source.branch.name}`,
    target: destination.branch.name,
    fork,
    draft: draft === true,
    author: author?.uuid,
    labels: [],
  });
}

/**
 * A list that is the same needs no look at the commits of its requests. A push changes a request's time of update
 * besides its digits; where it did not, the other commit would have no status, never one of before.
 */
function validatorOf({ values, next }: ToldPage): string | undefined {
  if (next !== undefined || values.some(({ updated_on: updated }) => updated === undefined)) return undefined;
  const told = values.map(({ id, title, draft, updated_on: updated, author, links, source, destination }) => [
    ...[id, title, draft, updated, author?.uuid, links.html.href],
    ...[source, destination].map(({ branch, commit, repository }) => [
      branch.name,
      commit?.hash,
      repository?.full_name,
    ]),
  ]);
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

/**
 * The list tells only the first twelve digits of a commit; its own list of commits, newest first, tells all. It is
 * asked each time that the list has changed: an author can make another commit with the same twelve.
 */
async function headOf(api: Api, path: string, { id, source }: Told, call: Call): Promise<string | undefined> {
  const short = source.commit?.hash;
  if (!short) return undefined;
  const { value } = await api.get(`${path}/pullrequests/${id}/commits?pagelen=1`, bitbucketCloudCommits, call);
  return value.values.find(({ hash }) => hash.startsWith(short))?.hash;
}

async function inLanes<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (let start = 0; start < items.length; start += lanes) {
    results.push(...(await Promise.all(items.slice(start, start + lanes).map(work))));
  }
  return results;
}
