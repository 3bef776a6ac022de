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
import { fromBase64, isAnyOf } from '../../webhooks/proof.ts';
import type { Receiver, WebhookEvent } from '../../webhooks/receiver.ts';

const telling = ['git.pullrequest.created', 'git.pullrequest.updated', 'git.pullrequest.merged'];

/** Service hooks sign nothing: they send a name and a password (`Authorization: Basic`). The password is the secret. */
export const azureDevOps: Receiver = {
  proofs: ['authorization'],
  verify: ({ header }, secrets) => {
    const [, encoded] = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header('authorization') ?? '') ?? [];
    const said = fromBase64(encoded ?? '');
    const colon = said?.indexOf(':') ?? -1;
    return said !== undefined && colon >= 0 && isAnyOf(secrets, said.subarray(colon + 1));
  },
  read: (delivery) => {
    const payload = payloadOf(delivery);
    const event = optionalTextAt(payload, 'eventType') ?? '';
    if (event === 'git.push') return isTold(payload, 'refUpdates') ? readPush(payload) : [{ kind: 'look' }];
    if (telling.includes(event)) return [isTold(payload, 'targetRefName') ? readRequest(payload) : { kind: 'look' }];
    return [{ kind: 'ignored', because: 'only git.push and git.pullrequest events are of interest' }];
  },
  id: (delivery) => optionalTextAt(payloadOf(delivery), 'id'),
};

/** A subscription may leave out details of its resource, or all of it. */
function isTold(payload: Payload, name: string): boolean {
  return field(payload, 'resource', name) !== undefined;
}

function readPush(payload: Payload): readonly WebhookEvent[] {
  const urls = repositoryUrls(payload);
  return listAt(payload, 'resource', 'refUpdates').map((update) => ({
    kind: 'push',
    repositoryUrls: urls,
    ref: optionalTextAt(update, 'name') ?? '',
    before: optionalTextAt(update, 'oldObjectId') ?? '',
    after: optionalTextAt(update, 'newObjectId') ?? '',
  }));
}

function readRequest(payload: Payload): WebhookEvent {
  return {
    kind: 'request',
    repositoryUrls: repositoryUrls(payload),
    target: textAt(payload, 'resource', 'targetRefName'),
    number: numberAt(payload, 'resource', 'pullRequestId'),
  };
}

function repositoryUrls(payload: Payload): readonly string[] {
  return textsAt(payload, [
    ['resource', 'repository', 'remoteUrl'],
    ['resource', 'repository', 'webUrl'],
  ]);
}
