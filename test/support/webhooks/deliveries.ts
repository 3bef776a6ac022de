import { createHmac, randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import type { WebhookType } from '../../../manifests/api/etcd-fleet.ts';

/**
 * Deliveries as the forges send them: GitHub's are signed by its own library, all others as their documentation says.
 */
export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PushFacts {
  /** As people clone it. */
  readonly url: string;
  readonly ref: string;
  readonly before: string;
  readonly after: string;
}

export interface RequestFacts {
  readonly url: string;
  readonly target: string;
  readonly number: number;
}

export interface Caller {
  push(facts: PushFacts): object;
  request(facts: RequestFacts): object;
  /** What the forge sends to try the address. */
  ping?: { readonly event: string; readonly payload: object };
  /** How it names a push, a request, and something that is of no interest. */
  readonly events: { readonly push: string; readonly request: string; readonly other: string };
  send(secret: string, event: string, payload: object | string): Promise<Sent>;
}

export const noCommit = '0'.repeat(40);

function hex(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function text(payload: object | string): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload);
}

const json = { 'content-type': 'application/json' };

const gitHub: Caller = {
  push: ({ url, ...facts }) => ({ ...facts, commits: [], repository: { clone_url: url } }),
  request: ({ url, target, number }) => ({
    action: 'synchronize',
    number,
    pull_request: { base: { ref: target } },
    repository: { clone_url: url },
  }),
  ping: { event: 'ping', payload: { zen: 'Keep it logically awesome.', hook_id: 1 } },
  events: { push: 'push', request: 'pull_request', other: 'star' },
  send: async (secret, event, payload) => {
    const body = text(payload);
    return {
      headers: {
        ...json,
        'x-github-event': event,
        'x-github-delivery': randomUUID(),
        // Its library signs with no empty secret; a stranger may.
        'x-hub-signature-256': secret === '' ? `sha256=${hex(secret, body)}` : await sign(secret, body),
      },
      body,
    };
  },
};

const gitea: Caller = {
  ...gitHub,
  request: (facts) => ({ ...gitHub.request(facts), action: 'synchronized' }),
  events: { push: 'push', request: 'pull_request_sync', other: 'issues' },
  send: async (secret, event, payload) => {
    const body = text(payload);
    return {
      headers: {
        ...json,
        'x-gitea-event': event,
        'x-gitea-delivery': randomUUID(),
        'x-gitea-signature': hex(secret, body),
        // Gitea sends these, too; of a body that it has signed in its own way.
        'x-gogs-signature': hex(secret, body),
        'x-hub-signature-256': `sha256=${hex(secret, body)}`,
      },
      body,
    };
  },
};

const forgejo: Caller = {
  ...gitea,
  send: async (secret, event, payload) => {
    const { headers, body } = await gitea.send(secret, event, payload);
    return {
      headers: {
        ...headers,
        'x-forgejo-event': event,
        'x-forgejo-delivery': headers['x-gitea-delivery'] ?? '',
        'x-forgejo-signature': headers['x-gitea-signature'] ?? '',
      },
      body,
    };
  },
};

const gitLab: Caller = {
  push: ({ url, ...facts }) => ({
    object_kind: 'push',
    event_name: 'push',
    ...facts,
    checkout_sha: facts.after,
    project: { git_http_url: url, web_url: url.replace(/\.git$/, '') },
    total_commits_count: 0,
  }),
  request: ({ url, target, number }) => ({
    object_kind: 'merge_request',
    project: { git_http_url: url },
    object_attributes: { iid: number, target_branch: target, action: 'update', oldrev: noCommit },
  }),
  events: { push: 'Push Hook', request: 'Merge Request Hook', other: 'Note Hook' },
  send: async (secret, event, payload) => ({
    headers: {
      ...json,
      'x-gitlab-event': event,
      'x-gitlab-token': secret,
      'x-gitlab-event-uuid': randomUUID(),
      'idempotency-key': randomUUID(),
    },
    body: text(payload),
  }),
};

/** GitLab with a signing token (`whsec_…`), as Standard Webhooks says. */
export async function sendSignedByGitLab(
  token: string,
  payload: object | string,
  at = Math.floor(Date.now() / 1000),
): Promise<Sent> {
  const body = text(payload);
  const id = randomUUID();
  const key = Buffer.from(token.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return {
    headers: {
      ...json,
      'x-gitlab-event': 'Push Hook',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}

const bitbucketCloud: Caller = {
  push: ({ url, ref, before, after }) => {
    const [, folder, name] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? [];
    const side = (hash: string) =>
      hash === noCommit ? null : { type: folder === 'tags' ? 'tag' : 'branch', name, target: { hash } };
    return {
      push: { changes: [{ old: side(before), new: side(after) }] },
      repository: { full_name: new URL(url).pathname.slice(1), links: { html: { href: url } } },
    };
  },
  request: ({ url, target, number }) => ({
    pullrequest: { id: number, destination: { branch: { name: target } } },
    repository: { links: { html: { href: url } } },
  }),
  events: { push: 'repo:push', request: 'pullrequest:updated', other: 'issue:created' },
  send: async (secret, event, payload) => {
    const body = text(payload);
    return {
      headers: {
        ...json,
        'x-event-key': event,
        'x-request-uuid': randomUUID(),
        'x-hub-signature': `sha256=${hex(secret, body)}`,
      },
      body,
    };
  },
};

const bitbucketDataCenter: Caller = {
  push: ({ url, ref, before, after }) => ({
    eventKey: 'repo:refs_changed',
    repository: { slug: 'etcd', project: { key: 'PLAT' }, links: { clone: [{ href: url, name: 'http' }] } },
    changes: [{ ref: { id: ref, type: 'BRANCH' }, refId: ref, fromHash: before, toHash: after, type: 'UPDATE' }],
  }),
  request: ({ url, target, number }) => ({
    eventKey: 'pr:from_ref_updated',
    pullRequest: {
      id: number,
      toRef: { displayId: target, repository: { links: { clone: [{ href: url, name: 'http' }] } } },
    },
  }),
  ping: { event: 'diagnostics:ping', payload: { test: true } },
  events: { push: 'repo:refs_changed', request: 'pr:from_ref_updated', other: 'repo:forked' },
  send: async (secret, event, payload) => {
    const body = text(payload);
    return {
      headers: {
        ...json,
        'x-event-key': event,
        'x-request-id': randomUUID(),
        'x-hub-signature': `sha256=${hex(secret, body)}`,
      },
      body,
    };
  },
};

const azureDevOps: Caller = {
  push: ({ url, ref, before, after }) => ({
    id: randomUUID(),
    eventType: 'git.push',
    resource: {
      refUpdates: [{ name: ref, oldObjectId: before, newObjectId: after }],
      repository: { remoteUrl: url },
    },
  }),
  request: ({ url, target, number }) => ({
    id: randomUUID(),
    eventType: 'git.pullrequest.updated',
    resource: { pullRequestId: number, targetRefName: `refs/heads/${target}`, repository: { remoteUrl: url } },
  }),
  events: { push: 'git.push', request: 'git.pullrequest.updated', other: 'workitem.created' },
  send: async (secret, _event, payload) => ({
    headers: { ...json, authorization: `Basic ${Buffer.from(`etcd-ratchet:${secret}`).toString('base64')}` },
    body: text(payload),
  }),
};

const generic: Caller = {
  push: ({ url, ...facts }) => ({ repository: url, ...facts }),
  request: () => ({}),
  events: { push: '', request: '', other: '' },
  send: async (secret, _event, payload) => {
    const body = text(payload);
    return {
      headers: { ...json, 'x-signature': `sha256=${hex(secret, body)}`, 'x-delivery': randomUUID() },
      body,
    };
  },
};

export const callers: Readonly<Record<WebhookType, Caller>> = {
  GitHub: gitHub,
  GitLab: gitLab,
  Gitea: gitea,
  Forgejo: forgejo,
  BitbucketCloud: bitbucketCloud,
  BitbucketDataCenter: bitbucketDataCenter,
  AzureDevOps: azureDevOps,
  Generic: generic,
};
