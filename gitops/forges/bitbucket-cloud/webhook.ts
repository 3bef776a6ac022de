import {
  field,
  listAt,
  numberAt,
  optionalTextAt,
  type Payload,
  payloadOf,
  textAt,
  textsAt,
} from '../../webhooks/payload.ts';
import { signedIn } from '../../webhooks/proof.ts';
import { noCommit, type Receiver, type WebhookEvent } from '../../webhooks/receiver.ts';

const telling = ['pullrequest:created', 'pullrequest:updated', 'pullrequest:fulfilled', 'pullrequest:rejected'];

/** `X-Hub-Signature: sha256=<hex>`, in the header's name of old and with another algorithm than GitHub's. */
export const bitbucketCloud: Receiver = {
  ...signedIn('x-hub-signature'),
  read: (delivery) => {
    const event = delivery.header('x-event-key') ?? '';
    if (event === 'repo:push') return readPush(payloadOf(delivery));
    if (telling.includes(event)) return [readRequest(payloadOf(delivery))];
    return [{ kind: 'ignored', because: 'only repo:push and pull request events are of interest' }];
  },
  id: ({ header }) => header('x-request-uuid'),
};

/** One change for each ref; `old` is null where it was created, `new` where it was deleted. */
function readPush(payload: Payload): readonly WebhookEvent[] {
  const urls = repositoryUrls(payload);
  return listAt(payload, 'push', 'changes').map((change): WebhookEvent => {
    const there = field(change, 'new') ?? field(change, 'old');
    const folder = optionalTextAt(there, 'type') === 'tag' ? 'tags' : 'heads';
    return {
      kind: 'push',
      repositoryUrls: urls,
      ref: `refs/${folder}/${optionalTextAt(there, 'name') ?? ''}`,
      before: optionalTextAt(change, 'old', 'target', 'hash') ?? noCommit,
      after: optionalTextAt(change, 'new', 'target', 'hash') ?? noCommit,
    };
  });
}

function readRequest(payload: Payload): WebhookEvent {
  return {
    kind: 'request',
    repositoryUrls: repositoryUrls(payload),
    target: textAt(payload, 'pullrequest', 'destination', 'branch', 'name'),
    number: numberAt(payload, 'pullrequest', 'id'),
  };
}

/** There is no clone URL in it; the page's address has the same path. */
function repositoryUrls(payload: Payload): readonly string[] {
  return textsAt(payload, [
    ['repository', 'links', 'html', 'href'],
    ['repository', 'full_name'],
  ]);
}
