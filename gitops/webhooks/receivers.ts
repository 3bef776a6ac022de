import { type WebhookType, webhookTypes } from '../../manifests/api/etcd-fleet.ts';
import { registry } from '../forges/registry.ts';
import { rememberedHmac } from './proof.ts';
import type { Delivery, Receiver } from './receiver.ts';

export function receiverOf(type: WebhookType): Receiver {
  return registry[type].webhook;
}

/** So many secrets are verified with, whatever a fleet has. */
const keys = 2;

/**
 * Whether a delivery proves to know one of these secrets. The work follows from the delivery alone: every kind of
 * caller is tried with as many keys, so timing tells neither the fleet's kind, nor its secrets, nor whether it exists.
 * @param type `undefined`: of a fleet that does not exist; nothing proves anything then
 * @param decoys at least two keys that no caller knows
 */
export function isProven(
  type: WebhookType | undefined,
  delivery: Omit<Delivery, 'hmac'>,
  { secrets, decoys, now }: { secrets: readonly Uint8Array[]; decoys: readonly Uint8Array[]; now: Date },
): boolean {
  const tried = [...secrets.filter(({ length }) => length > 0), ...decoys].slice(0, keys);
  const once = { ...delivery, hmac: rememberedHmac() };
  const found = webhookTypes.filter((one) => receiverOf(one).verify(once, tried, now));
  return type !== undefined && found.includes(type);
}

/** Every header that may prove something. A delivery without any of them is not looked at. */
export const proofs: ReadonlySet<string> = new Set(Object.values(registry).flatMap(({ webhook }) => webhook.proofs));
