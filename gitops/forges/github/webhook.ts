import { numberAt, optionalTextAt, type Payload, payloadOf, textAt, textsAt } from '../../webhooks/payload.ts';
import { signedIn } from '../../webhooks/proof.ts';
import type { Delivery, Receiver, WebhookEvent } from '../../webhooks/receiver.ts';

/** What else happens to a request (labels, assignees, reviews) changes nothing that would be planned. */
const telling = ['opened', 'reopened', 'synchronize', 'edited', 'ready_for_review', 'converted_to_draft', 'closed'];

/** `X-Hub-Signature-256: sha256=<hex>`; `X-Hub-Signature` beside it is SHA-1, and is not looked at. */
export const gitHub: Receiver = {
  ...signedIn('x-hub-signature-256'),
  read: (delivery) => [readEvent(delivery, delivery.header('x-github-event') ?? '')],
  id: ({ header }) => header('x-github-delivery'),
};

/** GitHub's and Gitea's payloads have the same names. */
export function readEvent(delivery: Delivery, event: string): WebhookEvent {
  switch (event) {
    case 'ping':
      return { kind: 'ping' };
    case 'push':
      return readPush(payloadOf(delivery));
    case 'pull_request':
    case 'pull_request_sync':
      return readRequest(payloadOf(delivery));
    case 'merge_group':
      return readQueued(payloadOf(delivery));
    default:
      return { kind: 'ignored', because: `only push, pull_request, merge_group and ping are of interest` };
  }
}

function readPush(payload: Payload): WebhookEvent {
  return {
    kind: 'push',
    repositoryUrls: repositoryUrls(payload),
    ref: textAt(payload, 'ref'),
    before: textAt(payload, 'before'),
    after: textAt(payload, 'after'),
  };
}

function readRequest(payload: Payload): WebhookEvent {
  const action = optionalTextAt(payload, 'action') ?? '';
  // Gitea says `synchronized`.
  if (!telling.some((word) => action.startsWith(word))) {
    return { kind: 'ignored', because: 'the request itself did not change' };
  }
  return {
    kind: 'request',
    repositoryUrls: repositoryUrls(payload),
    target: textAt(payload, 'pull_request', 'base', 'ref'),
    number: numberAt(payload, 'number'),
  };
}

/** A merge queue made a commit, and waits for its statuses. */
function readQueued(payload: Payload): WebhookEvent {
  if (optionalTextAt(payload, 'action') !== 'checks_requested')
    return { kind: 'ignored', because: 'no commit of the merge queue waits' };
  const [, branch, number = '0'] =
    /^refs\/heads\/gh-readonly-queue\/(.+)\/pr-(\d+)-[0-9a-f]{40}$/.exec(textAt(payload, 'merge_group', 'head_ref')) ??
    [];
  const target = branch ?? optionalTextAt(payload, 'merge_group', 'base_ref') ?? '';
  return { kind: 'request', repositoryUrls: repositoryUrls(payload), target, number };
}

function repositoryUrls(payload: Payload): readonly string[] {
  return textsAt(payload, [
    ['repository', 'clone_url'],
    ['repository', 'html_url'],
    ['repository', 'ssh_url'],
  ]);
}
