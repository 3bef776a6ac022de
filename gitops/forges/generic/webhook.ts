import { field, optionalTextAt, payloadOf } from '../../webhooks/payload.ts';
import { signedIn } from '../../webhooks/proof.ts';
import type { Receiver } from '../../webhooks/receiver.ts';

/**
 * Any sender that can sign: a CI job, a mirror, an unknown forge. `X-Signature: sha256=<hex HMAC of the body>`. The
 * body may be `{"ref": "refs/heads/main", "before": "…", "after": "…", "repository": "https://…"}`. Any other body, or
 * none, means: look.
 */
export const generic: Receiver = {
  ...signedIn('x-signature'),
  read: (delivery) => {
    const isJson = delivery.header('content-type')?.toLowerCase().startsWith('application/json') ?? false;
    if (!isJson || delivery.body.length === 0) return [{ kind: 'look' }];
    const payload = payloadOf(delivery);
    if (field(payload, 'ref') === undefined) return [{ kind: 'look' }];
    const repository = optionalTextAt(payload, 'repository');
    return [
      {
        kind: 'push',
        repositoryUrls: repository === undefined ? [] : [repository],
        ref: optionalTextAt(payload, 'ref') ?? '',
        before: optionalTextAt(payload, 'before') ?? '',
        after: optionalTextAt(payload, 'after') ?? '',
      },
    ];
  },
  id: ({ header }) => header('x-delivery'),
};
