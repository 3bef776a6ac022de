import { field, listAt, numberAt, optionalTextAt, type Payload, payloadOf, textAt } from '../../webhooks/payload.ts';
import { signedIn } from '../../webhooks/proof.ts';
import { noCommit, type Receiver, type WebhookEvent } from '../../webhooks/receiver.ts';

const telling = [
  'pr:opened',
  'pr:from_ref_updated',
  'pr:to_ref_updated',
  'pr:modified',
  'pr:merged',
  'pr:declined',
  'pr:deleted',
];

/** `X-Hub-Signature: sha256=<hex>`. Its test button sends `diagnostics:ping`. */
export const bitbucketDataCenter: Receiver = {
  ...signedIn('x-hub-signature'),
  read: (delivery) => {
    const event = delivery.header('x-event-key') ?? '';
    if (event === 'diagnostics:ping') return [{ kind: 'ping' }];
    if (event === 'repo:refs_changed') return readPush(payloadOf(delivery));
    if (telling.includes(event)) return [readRequest(payloadOf(delivery))];
    return [{ kind: 'ignored', because: 'only repo:refs_changed, pull request events and pings are of interest' }];
  },
  id: ({ header }) => header('x-request-id'),
};

function readPush(payload: Payload): readonly WebhookEvent[] {
  const urls = repositoryUrls(field(payload, 'repository'));
  return listAt(payload, 'changes').map((change) => ({
    kind: 'push',
    repositoryUrls: urls,
    ref: optionalTextAt(change, 'refId') ?? optionalTextAt(change, 'ref', 'id') ?? '',
    before: optionalTextAt(change, 'fromHash') ?? noCommit,
    after: optionalTextAt(change, 'toHash') ?? noCommit,
  }));
}

function readRequest(payload: Payload): WebhookEvent {
  return {
    kind: 'request',
    repositoryUrls: repositoryUrls(field(payload, 'pullRequest', 'toRef', 'repository')),
    target: textAt(payload, 'pullRequest', 'toRef', 'displayId'),
    number: numberAt(payload, 'pullRequest', 'id'),
  };
}

/** Older ones send no links: then the path that their clone URLs have. */
function repositoryUrls(repository: unknown): readonly string[] {
  const links = field(repository, 'links', 'clone');
  const cloneUrls = Array.isArray(links)
    ? links.slice(0, 10).flatMap((link) => optionalTextAt(link, 'href') ?? [])
    : [];
  const project = optionalTextAt(repository, 'project', 'key');
  const slug = optionalTextAt(repository, 'slug');
  return [...cloneUrls, ...(project && slug ? [`scm/${project}/${slug}`] : [])];
}
