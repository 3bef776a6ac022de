import { createBitbucketCloudClient } from '@coderabbitai/bitbucket/cloud';
import { createBitbucketServerClient } from '@coderabbitai/bitbucket/server';
import { Gitlab } from '@gitbeaker/rest';
import type { paths } from '@octokit/openapi-types';
import azureGit from 'azure-devops-node-api/GitApi.js';
import azure from 'azure-devops-node-api/interfaces/GitInterfaces.js';
import { giteaApi } from 'gitea-js';
import type { ForgeType } from '../../../../manifests/api/etcd-fleet.ts';
import { sha, status } from './kinds.ts';

/** The same requests as they are sent by clients that others wrote. */
export interface OtherClient {
  post(server: string): Promise<unknown>;
  /** A status that is about request 17, where that is told elsewhere. */
  postAbout?(server: string): Promise<unknown>;
  openRequests(server: string): Promise<unknown>;
  /** Those of one commit; of one context, where that is asked for. */
  statuses(server: string): Promise<unknown>;
  createComment?(server: string, body: string): Promise<unknown>;
  updateComment?(server: string, id: number, body: string): Promise<unknown>;
}

const { context, description, targetURL: targetUrl = '' } = status;
const project = 'team/platform/etcd';

/** GitHub publishes its API as types: paths and bodies are checked by the compiler, and sent by hand. */
const gitHub: OtherClient = {
  post: (server) =>
    sendAsPublished(server, 'post', '/repos/{owner}/{repo}/statuses/{sha}', { sha }, {
      state: 'success',
      context,
      description,
      target_url: targetUrl,
    } satisfies paths['/repos/{owner}/{repo}/statuses/{sha}']['post']['requestBody']['content']['application/json']),
  openRequests: (server) => {
    const query = {
      state: 'open',
      base: 'main',
      sort: 'created',
      direction: 'desc',
      per_page: 50,
      page: 1,
    } satisfies paths['/repos/{owner}/{repo}/pulls']['get']['parameters']['query'];
    return sendAsPublished(server, 'get', '/repos/{owner}/{repo}/pulls', {}, undefined, query);
  },
  statuses: (server) => {
    const query = {
      per_page: 100,
      page: 1,
    } satisfies paths['/repos/{owner}/{repo}/commits/{ref}/status']['get']['parameters']['query'];
    return sendAsPublished(server, 'get', '/repos/{owner}/{repo}/commits/{ref}/status', { ref: sha }, undefined, query);
  },
  createComment: (server, body) =>
    sendAsPublished(server, 'post', '/repos/{owner}/{repo}/issues/{issue_number}/comments', { issue_number: 17 }, {
      body,
    } satisfies paths['/repos/{owner}/{repo}/issues/{issue_number}/comments']['post']['requestBody']['content']['application/json']),
  updateComment: (server, id, body) =>
    sendAsPublished(server, 'patch', '/repos/{owner}/{repo}/issues/comments/{comment_id}', { comment_id: id }, {
      body,
    } satisfies paths['/repos/{owner}/{repo}/issues/comments/{comment_id}']['patch']['requestBody']['content']['application/json']),
};

const gitLab: OtherClient = {
  post: (server) =>
    gitbeaker(server).Commits.editStatus(project, sha, 'success', { name: context, description, targetUrl }),
  openRequests: (server) =>
    gitbeaker(server).MergeRequests.all({
      projectId: project,
      state: 'opened',
      targetBranch: 'main',
      orderBy: 'created_at',
      sort: 'desc',
      perPage: 50,
      page: 1,
      maxPages: 1,
    }),
  statuses: (server) => gitbeaker(server).Commits.allStatuses(project, sha, { name: 'smoke' }),
  createComment: (server, body) => gitbeaker(server).MergeRequestNotes.create(project, 17, body),
  updateComment: (server, id, body) => gitbeaker(server).MergeRequestNotes.edit(project, 17, id, { body }),
};

function gitbeaker(server: string) {
  return new Gitlab({ host: server, token: 'x' });
}

const gitea: OtherClient = {
  post: (server) =>
    giteaJs(server).repos.repoCreateStatus('platform', 'etcd', sha, {
      state: 'success' as never,
      context,
      description,
      target_url: targetUrl,
    }),
  openRequests: (server) =>
    giteaJs(server).repos.repoListPullRequests('platform', 'etcd', { state: 'open', page: 1, limit: 50 }),
  statuses: (server) =>
    giteaJs(server).repos.repoGetCombinedStatusByRef('platform', 'etcd', sha, { page: 1, limit: 50 }),
  createComment: (server, body) => giteaJs(server).repos.issueCreateComment('platform', 'etcd', 17, { body }),
  updateComment: (server, id, body) => giteaJs(server).repos.issueEditComment('platform', 'etcd', id, { body }),
};

function giteaJs(server: string) {
  return giteaApi(`${server}/git`, { token: 'x' });
}

/** What sha1sum says of the context. */
const key = '874b579557fd03acedb1c2649abb6aaa7e90fc28';
const built = { key, name: context, state: 'SUCCESSFUL', description, url: targetUrl } as const;

const bitbucketCloud: OtherClient = {
  post: (server) =>
    createBitbucketCloudClient({ baseUrl: `${server}/2.0` }).POST(
      '/repositories/{workspace}/{repo_slug}/commit/{commit}/statuses/build',
      // Its type tells answers from requests by a field that nobody sends.
      { params: { path: { workspace: 'platform', repo_slug: 'etcd', commit: sha } }, body: built as never },
    ),
  openRequests: (server) =>
    createBitbucketCloudClient({ baseUrl: `${server}/2.0` }).GET('/repositories/{workspace}/{repo_slug}/pullrequests', {
      params: { path: { workspace: 'platform', repo_slug: 'etcd' }, query: { state: 'OPEN' } },
    }),
  statuses: (server) =>
    createBitbucketCloudClient({ baseUrl: `${server}/2.0` }).GET(
      '/repositories/{workspace}/{repo_slug}/commit/{commit}/statuses',
      { params: { path: { workspace: 'platform', repo_slug: 'etcd', commit: sha } } },
    ),
};

const bitbucketDataCenter: OtherClient = {
  post: (server) =>
    createBitbucketServerClient({ baseUrl: `${server}/context/rest` }).POST(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/commits/{commitId}/builds',
      { params: { path: { projectKey: '~ada', repositorySlug: 'etcd', commitId: sha } }, body: built },
    ),
  openRequests: (server) =>
    createBitbucketServerClient({ baseUrl: `${server}/context/rest` }).GET(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/pull-requests',
      {
        params: {
          path: { projectKey: '~ada', repositorySlug: 'etcd' },
          query: { state: 'OPEN', direction: 'INCOMING', at: 'refs/heads/main', order: 'NEWEST', limit: 50, start: 0 },
        },
      },
    ),
  statuses: (server) =>
    createBitbucketServerClient({ baseUrl: `${server}/context/rest` }).GET(
      '/api/latest/projects/{projectKey}/repos/{repositorySlug}/commits/{commitId}/builds',
      { params: { path: { projectKey: '~ada', repositorySlug: 'etcd', commitId: sha }, query: { key: 'smoke' } } },
    ),
};

const azureDevOps: OtherClient & Required<Pick<OtherClient, 'postAbout'>> = {
  post: (server) =>
    azureApi(server).createCommitStatus(
      {
        state: azure.GitStatusState.Succeeded,
        description,
        context: { genre: 'etcd-ratchet', name: 'production/plan' },
        targetUrl,
      },
      sha,
      'etcd',
      'My Project',
    ),
  postAbout: (server) =>
    azureApi(server).createPullRequestStatus(
      {
        iterationId: 2,
        state: azure.GitStatusState.Succeeded,
        description,
        context: { genre: 'etcd-ratchet', name: 'production/plan' },
        targetUrl,
      },
      'etcd',
      17,
      'My Project',
    ),
  openRequests: (server) =>
    azureApi(server).getPullRequests(
      'etcd',
      { status: azure.PullRequestStatus.Active, targetRefName: 'refs/heads/main' },
      'My Project',
      undefined,
      0,
      50,
    ),
  statuses: (server) => azureApi(server).getStatuses(sha, 'etcd', 'My Project', 100, 0, true),
};

function azureApi(server: string) {
  return new azureGit.GitApi(`${server}/tfs/Collection`, []);
}

/**
 * What an Azure DevOps server tells that client about where its resources are: as its documentation writes the
 * addresses.
 */
export const azureLocations = {
  count: 3,
  value: [
    ['428dd4fb-fda5-4722-af02-9313b80305da', 'statuses', 'commits/{commitId}/{resource}'],
    ['b5f6bb4f-8d1e-4d79-8d11-4c9172c99c35', 'statuses', 'pullRequests/{pullRequestId}/{resource}'],
    ['9946fd70-0d40-406e-b686-b4744cbbcc37', 'pullrequests', '{resource}'],
  ].map(([id, resourceName, rest]) => ({
    id,
    area: 'git',
    resourceName,
    routeTemplate: `{project}/_apis/{area}/repositories/{repositoryId}/${rest}`,
    resourceVersion: 1,
    minVersion: '1.0',
    maxVersion: '7.2',
    releasedVersion: '7.1',
  })),
};

export const others = {
  GitHub: gitHub,
  GitLab: gitLab,
  Gitea: gitea,
  Forgejo: gitea,
  BitbucketCloud: bitbucketCloud,
  BitbucketDataCenter: bitbucketDataCenter,
  AzureDevOps: azureDevOps,
} as const satisfies Record<ForgeType, OtherClient>;

function sendAsPublished<Path extends keyof paths>(
  server: string,
  method: keyof paths[Path] & string,
  path: Path,
  parameters: Readonly<Record<string, string | number>>,
  body?: unknown,
  query: Readonly<Record<string, string | number>> = {},
): Promise<unknown> {
  const all: Readonly<Record<string, string | number>> = { owner: 'platform', repo: 'etcd', ...parameters };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(all[name]));
  const search = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  );
  return fetch(`${server}/api/v3${filled}?${search}`, {
    method: method.toUpperCase(),
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}
