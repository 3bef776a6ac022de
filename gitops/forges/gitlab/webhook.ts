import { field, numberAt, optionalTextAt, type Payload, payloadOf, textAt, textsAt } from '../../webhooks/payload.ts';
import { fromBase64, isAnyOf, isSignedBy, rememberedHmac } from '../../webhooks/proof.ts';
import type { Delivery, Receiver, WebhookEvent } from '../../webhooks/receiver.ts';

/** What a signature may be old, in milliseconds either way, as Standard Webhooks says. */
const toleranceMs = 5 * 60_000;
const mostSignatures = 5;

/**
 * Two ways: `X-Gitlab-Token`, which is the secret itself, and since 2026 signing tokens, which follow Standard Webhooks
 * (`webhook-signature: v1,<base64>` over id, timestamp and body). Knowing either proves the same.
 */
export const gitLab: Receiver = {
  proofs: ['x-gitlab-token', 'webhook-signature'],
  verify: (delivery, secrets, now) => {
    const token = delivery.header('x-gitlab-token');
    const isToken = token !== undefined && isAnyOf(secrets, Buffer.from(token));
    return isSigned(delivery, secrets, now) || isToken;
  },
  read: (delivery) => [readEvent(delivery)],
  id: ({ header }) => header('webhook-id') ?? header('idempotency-key') ?? header('x-gitlab-event-uuid'),
};

function isSigned(
  { header, body, hmac = rememberedHmac() }: Delivery,
  secrets: readonly Uint8Array[],
  now: Date,
): boolean {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header);
  if (id === undefined || timestamp === undefined || signatures === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() - Number(timestamp) * 1000) > toleranceMs) return false;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const keys = secrets.map(keyOf);
  return signatures
    .split(' ', mostSignatures)
    .flatMap((one) => (one.startsWith('v1,') ? (fromBase64(one.slice(3)) ?? []) : []))
    .some((signature) => isSignedBy(keys, signed, signature, hmac));
}

/** Signing tokens are `whsec_<base64 of the key>`. */
function keyOf(secret: Uint8Array): Uint8Array {
  const prefix = 'whsec_';
  const text = Buffer.from(secret).toString('latin1');
  return text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), 'base64') : secret;
}

function readEvent(delivery: Delivery): WebhookEvent {
  const payload = payloadOf(delivery);
  switch (optionalTextAt(payload, 'object_kind')) {
    case 'push':
    case 'tag_push':
      return {
        kind: 'push',
        repositoryUrls: repositoryUrls(payload),
        ref: textAt(payload, 'ref'),
        before: textAt(payload, 'before'),
        after: textAt(payload, 'after'),
      };
    case 'merge_request':
      return readRequest(payload);
    default:
      return { kind: 'ignored', because: 'only push, tag and merge request events are of interest' };
  }
}

function readRequest(payload: Payload): WebhookEvent {
  const action = optionalTextAt(payload, 'object_attributes', 'action') ?? '';
  // An `update` without an old revision is about words: title, labels, assignees.
  const isAboutCommits = field(payload, 'object_attributes', 'oldrev') !== undefined;
  const isAboutTarget = field(payload, 'changes', 'target_branch') !== undefined;
  const isTelling = ['open', 'reopen', 'close', 'merge'].includes(action) || isAboutCommits || isAboutTarget;
  if (!isTelling) return { kind: 'ignored', because: 'the request itself did not change' };
  return {
    kind: 'request',
    repositoryUrls: repositoryUrls(payload),
    target: textAt(payload, 'object_attributes', 'target_branch'),
    number: numberAt(payload, 'object_attributes', 'iid'),
  };
}

function repositoryUrls(payload: Payload): readonly string[] {
  return textsAt(payload, [
    ['project', 'git_http_url'],
    ['project', 'web_url'],
    ['project', 'git_ssh_url'],
  ]);
}
