import type { WebhookType } from '../../manifests/api/etcd-fleet.ts';
import { registry } from '../forges/registry.ts';
import type { Receiver } from './receiver.ts';

export function receiverOf(type: WebhookType): Receiver {
  return registry[type].webhook;
}

/** Every header that may prove something. A delivery without any of them is not looked at. */
export const proofs: ReadonlySet<string> = new Set(Object.values(registry).flatMap(({ webhook }) => webhook.proofs));
