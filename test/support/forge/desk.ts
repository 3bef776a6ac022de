import type { Desk } from '../git/forge.ts';
import type { Repository } from '../git/repository.ts';

/** What people ask of a forge, by Gitea's API: to open a request, to merge it, and what was said of a commit. */
export function deskOf({ git }: Pick<Repository, 'git'>): Desk {
  const branches = new Map<number, string>();
  const headOf = (branch: string) => git('rev-parse', '--verify', `refs/heads/${branch}`);

  return async ({ method, path, body }, { pulls, statuses }) => {
    // A request's head is what its branch has now.
    for (const [at, pull] of pulls.entries()) {
      const branch = branches.get(pull.number);
      if (branch !== undefined) pulls[at] = { ...pull, headSha: await headOf(branch) };
    }
    const [, sha, asked] = /^\/repos\/platform\/etcd\/commits\/([0-9a-f]{40})\/(status|statuses)$/.exec(path) ?? [];
    if (method === 'GET' && sha) {
      const all = statuses
        .filter((status) => status.sha === sha)
        .map(({ context, state, description }, index) => ({ id: index + 1, status: state, description, context }));
      if (asked === 'statuses') return all;
      return { sha, statuses: [...new Map(all.map((status) => [status.context, status])).values()] };
    }
    if (method === 'GET' && path === '/repos/platform/etcd/branches/main') {
      return { name: 'main', commit: { id: await headOf('main') } };
    }
    if (method === 'POST' && path === '/repos/platform/etcd/pulls') {
      const { title = '', head = '' } = JSON.parse(body) as { title?: string; head?: string };
      const number = pulls.reduce((highest, pull) => Math.max(highest, pull.number), 0) + 1;
      pulls.push({ number, title, headSha: await headOf(head) });
      branches.set(number, head);
      return { number, title };
    }
    const merged = /^\/repos\/platform\/etcd\/pulls\/(\d+)\/merge$/.exec(path)?.[1];
    const at = pulls.findIndex(({ number }) => number === Number(merged));
    const [pull] = method === 'POST' && at >= 0 ? pulls.splice(at, 1) : [];
    return pull && { merged: await merge(git, pull) };
  };
}

/** In the bare repository, as a forge does it. */
async function merge(
  git: Repository['git'],
  { headSha, title }: { readonly headSha: string; readonly title: string },
): Promise<string> {
  const main = 'refs/heads/main';
  const tree = await git('merge-tree', '--write-tree', main, headSha);
  const identity = ['-c', 'user.name=Forge', '-c', 'user.email=forge@example.com'];
  const commit = await git(...identity, 'commit-tree', tree, '-p', main, '-p', headSha, '-m', `Merge: ${title}`);
  await git('update-ref', main, commit);
  return commit;
}
