import { fromHex, isSignedBy } from '../../webhooks/proof.ts';
import type { Delivery, Receiver } from '../../webhooks/receiver.ts';
import { readEvent } from '../github/webhook.ts';

/** Bare hex; Forgejo sends both names. The one that it calls its own decides. */
export const gitea: Receiver = {
  proofs: ['x-forgejo-signature', 'x-gitea-signature'],
  verify: (delivery, secrets) => {
    const signature = fromHex(own(delivery, 'signature'));
    return signature !== undefined && isSignedBy(secrets, delivery.body, signature, delivery.hmac);
  },
  read: (delivery) => [readEvent(delivery, own(delivery, 'event') ?? '')],
  id: (delivery) => own(delivery, 'delivery'),
};

function own({ header }: Delivery, name: string): string | undefined {
  return header(`x-forgejo-${name}`) ?? header(`x-gitea-${name}`);
}
