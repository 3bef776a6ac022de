import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApi as Cloud } from '@coderabbitai/bitbucket/cloud';
import type { OpenApi as DataCenter } from '@coderabbitai/bitbucket/server';
import type { CommitStatusSchema, MergeRequestNoteSchema, MergeRequestSchema } from '@gitbeaker/rest';
import type { components } from '@octokit/openapi-types';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import type {
  GitPullRequest,
  GitPullRequestIteration,
  GitStatus,
  GitStatusState,
} from 'azure-devops-node-api/interfaces/GitInterfaces.js';
import type * as Gitea from 'gitea-js';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import {
  azureDevOpsIterations,
  azureDevOpsRequests,
  azureDevOpsStatuses,
} from '../../../../gitops/forges/azure-devops/api.ts';
import {
  bitbucketCloudCommits,
  bitbucketCloudRequests,
  bitbucketCloudStatuses,
} from '../../../../gitops/forges/bitbucket-cloud/api.ts';
import { bitbucketDataCenterRequests } from '../../../../gitops/forges/bitbucket-data-center/api.ts';
import { bitbucketBuild } from '../../../../gitops/forges/bitbucket-status.ts';
import {
  giteaComments,
  giteaPulls,
  giteaStatuses,
  giteaTimeline,
  giteaUser,
} from '../../../../gitops/forges/gitea/api.ts';
import {
  gitHubComments,
  gitHubPulls,
  gitHubRefs,
  gitHubStatuses,
  gitHubUser,
} from '../../../../gitops/forges/github/api.ts';
import { appPermissions, installationToken } from '../../../../gitops/forges/github/app.ts';
import {
  gitLabNotes,
  gitLabRequests,
  gitLabStatus,
  gitLabStatuses,
  gitLabUser,
} from '../../../../gitops/forges/gitlab/api.ts';

/** As it comes out of JSON: numbers are numbers, and dates are text. */
type Json<T> = T extends bigint
  ? never
  : T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? Json<Item>[]
      : T extends object
        ? { [Key in keyof T]: Json<T[Key]> }
        : T;

/**
 * Published types that call every field optional: here they are taken to be there, so that at least name and type must
 * fit.
 */
type Given<T> = T extends readonly (infer Item)[]
  ? Given<Item>[]
  : T extends object
    ? { [Key in keyof T]-?: Given<Exclude<T[Key], undefined>> }
    : T;

/** The compiler refuses this call where a forge, by its published types, may answer with what we would not take. */
function takes<Schema extends TSchema>(_schema: Schema): <_Answer extends Static<Schema>>() => void {
  return () => undefined;
}

test('what the forges may answer by their published types is taken (the compiler says so)', () => {
  type GitHub = components['schemas'];
  takes(gitHubPulls)<Json<GitHub['pull-request-simple'][]>>();
  takes(gitHubComments)<Json<GitHub['issue-comment'][]>>();
  takes(gitHubStatuses)<Json<Pick<GitHub['combined-commit-status'], 'statuses'>>>();
  takes(gitHubRefs)<Json<GitHub['git-ref'][]>>();
  takes(gitHubUser)<Json<Pick<GitHub['private-user'], 'id'>>>();
  takes(installationToken)<Json<GitHub['installation-token']>>();

  type MergeRequest = Pick<
    MergeRequestSchema,
    'iid' | 'title' | 'web_url' | 'sha' | 'target_branch' | 'source_project_id' | 'target_project_id' | 'draft'
  > & { author: Pick<MergeRequestSchema['author'], 'id'>; labels: Extract<MergeRequestSchema['labels'], string[]> };
  takes(gitLabRequests)<Json<MergeRequest[]>>();
  takes(gitLabNotes)<Json<Pick<MergeRequestNoteSchema, 'id' | 'body' | 'author'>[]>>();
  takes(gitLabStatuses)<Json<Pick<CommitStatusSchema, 'id' | 'name' | 'status'>[]>>();
  takes(gitLabUser)<Json<MergeRequestNoteSchema['author']>>();

  type Pull = Pick<Gitea.PullRequest, 'number' | 'title' | 'html_url' | 'draft'> & {
    readonly user: Pick<Gitea.User, 'id'>;
    readonly labels: Pick<Gitea.Label, 'name'>[];
    readonly head: Pick<Gitea.PRBranchInfo, 'sha' | 'repo_id'>;
    readonly base: Pick<Gitea.PRBranchInfo, 'ref' | 'repo_id'>;
  };
  takes(giteaPulls)<Given<Pull[]>>();
  takes(giteaComments)<Given<(Pick<Gitea.Comment, 'id' | 'body'> & { user: Pick<Gitea.User, 'id'> })[]>>();
  takes(giteaStatuses)<Given<{ statuses: Pick<Gitea.CommitStatus, 'context' | 'status'>[] }>>();
  type Event = Pick<Gitea.TimelineComment, 'id' | 'type' | 'body'> & {
    readonly user: Pick<Gitea.User, 'id'>;
    readonly label: Pick<Gitea.Label, 'name'>;
  };
  takes(giteaTimeline)<Given<Event[]>>();
  takes(giteaUser)<Given<Pick<Gitea.User, 'id'>>>();

  type CloudRequest = Cloud.components['schemas']['pullrequest'];
  type CloudEnd = Given<NonNullable<CloudRequest['source']>>;
  type CloudTold = Given<{ id: CloudRequest['id']; title: CloudRequest['title']; draft: CloudRequest['draft'] }> & {
    links: Given<Pick<NonNullable<CloudRequest['links']>, 'html'>>;
    author: { uuid: NonNullable<Cloud.components['schemas']['account']['uuid']> };
    source: Pick<CloudEnd, 'branch' | 'commit'>;
    destination: Pick<CloudEnd, 'branch' | 'commit'>;
  };
  takes(bitbucketCloudRequests)<{ values: CloudTold[]; next: string }>();
  takes(bitbucketCloudCommits)<{
    values: Given<{ hash: Cloud.components['schemas']['base_commit']['hash'] }>[];
  }>();

  takes(bitbucketCloudStatuses)<{
    values: Given<Pick<Cloud.components['schemas']['commitstatus'], 'key' | 'name' | 'state'>>[];
    next: string;
  }>();
  takes(bitbucketBuild)<Given<Pick<DataCenter.components['schemas']['RestBuildStatus'], 'key' | 'name' | 'state'>>>();

  type ServerRequest = DataCenter.components['schemas']['RestPullRequest'];
  type ServerEnd = NonNullable<ServerRequest['fromRef']>;
  type ServerTold = Given<
    Pick<ServerRequest, 'id' | 'title' | 'draft'> & {
      fromRef: Pick<ServerEnd, 'latestCommit'> & { repository: Pick<NonNullable<ServerEnd['repository']>, 'id'> };
      toRef: Pick<ServerEnd, 'id'> & { repository: Pick<NonNullable<ServerEnd['repository']>, 'id'> };
    }
  >;
  takes(bitbucketDataCenterRequests)<{ values: ServerTold[]; isLastPage: boolean; nextPageStart: number }>();

  type AzureTold = Given<
    Pick<GitPullRequest, 'pullRequestId' | 'title' | 'isDraft' | 'sourceRefName' | 'targetRefName'> & {
      lastMergeSourceCommit: Pick<NonNullable<GitPullRequest['lastMergeSourceCommit']>, 'commitId'>;
      createdBy: Pick<NonNullable<GitPullRequest['createdBy']>, 'id'>;
      forkSource: object;
    }
  >;
  takes(azureDevOpsRequests)<{ value: AzureTold[] }>();
  // What it calls numbers are words on the wire.
  takes(azureDevOpsStatuses)<{
    value: (Given<Pick<GitStatus, 'context'>> & { state: keyof typeof GitStatusState })[];
  }>();
  type Push = Pick<GitPullRequestIteration, 'id'> & {
    sourceRefCommit: Pick<NonNullable<GitPullRequestIteration['sourceRefCommit']>, 'commitId'>;
  };
  takes(azureDevOpsIterations)<{ value: Given<Push>[] }>();
});

test('what we say is said in published words (the compiler says so)', () => {
  appPermissions satisfies Record<string, components['schemas']['app-permissions']>;
  const status = { sha: 'a', context: 'c', state: 'error', description: 'd' } as const;
  gitLabStatus(status).state satisfies CommitStatusSchema['status'];
});

test('captured examples of pull requests and comments are taken', () => {
  // Its types describe what a default export would be in CommonJS.
  const events = examples as unknown as readonly { name: string; examples: readonly Record<string, object>[] }[];
  const all = events.flatMap(({ name, examples: payloads }) => payloads.map((payload) => ({ name, payload })));
  const requests = all.flatMap(({ payload: { pull_request: request } }) =>
    request && 'head' in request ? [request] : [],
  );
  const comments = all.flatMap(({ name, payload }) => (name === 'issue_comment' ? [payload.comment] : []));
  assert.ok(requests.length > 20, `${requests.length} requests`);
  assert.ok(comments.length > 0);
  assert.ok(Check(gitHubPulls, requests));
  assert.ok(Check(gitHubComments, comments));
});

/** An answer that GitLab documents, as its clients keep it: a request whose branch is gone has no commit. */
test('a merge request without a commit is an answer, too', () => {
  const request = {
    iid: 1,
    title: 't',
    web_url: 'https://x/1',
    sha: null,
    target_branch: 'main',
    source_project_id: null,
    target_project_id: 1,
  };
  assert.ok(Check(gitLabRequests, [request]));
});
