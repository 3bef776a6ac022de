import type { Desk, OpenedRequest, PostedStatus } from '../git/forge.ts';

/** The API of Bitbucket Cloud, as far as we use it: of a list's commits it tells twelve digits. */
export function bitbucketDesk(): Desk {
  const updates: OpenedRequest[] = [];
  /** Each change of a request is another object. */
  const updatedOn = (pull: OpenedRequest): string => {
    if (!updates.includes(pull)) updates.push(pull);
    return new Date(Date.UTC(2026, 0, 1) + updates.indexOf(pull) * 1000).toISOString();
  };
  return async ({ method, path, body }, { pulls, statuses }) => {
    const [, owner = '', repository = '', rest = ''] = /^\/repositories\/([^/]+)\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (method === 'GET' && rest === 'pullrequests')
      return { values: pulls.map((pull) => asTold(pull, `${owner}/${repository}`, updatedOn(pull))) };
    const number = Number(/^pullrequests\/(\d+)\/commits$/.exec(rest)?.[1]);
    const asked = pulls.find((pull) => pull.number === number);
    if (method === 'GET' && asked) return { values: [{ hash: asked.headSha }] };
    const sha = /^commit\/([0-9a-f]{40})\/statuses\/build$/.exec(rest)?.[1];
    if (method !== 'POST' || !sha) return undefined;
    const { name: context, ...status } = JSON.parse(body) as Pick<PostedStatus, 'state' | 'description'> & {
      name: string;
    };
    statuses.push({ owner, repository, sha, context, ...status });
    return {};
  };
}

function asTold(
  { number, title, headSha, target = 'main', author = 100 }: OpenedRequest,
  repository: string,
  updated: string,
) {
  const side = (branch: string, hash?: string) => ({
    branch: { name: branch },
    ...(hash !== undefined && { commit: { hash } }),
    repository: { full_name: repository },
  });
  return {
    id: number,
    title,
    draft: false,
    updated_on: updated,
    author: { uuid: `{${author}}` },
    links: { html: { href: `https://bitbucket.example.com/pull-requests/${number}` } },
    source: side(`request-${number}`, headSha.slice(0, 12)),
    destination: side(target),
  };
}
