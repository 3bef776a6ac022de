import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { annotations } from '../../manifests/render/names.ts';
import { wantsReconcile } from '../../manifests/render/reconcile-request.ts';
import { timestamp } from '../time/timestamp.ts';

/** What a forge (or the way to it) said. */
export interface ForgeFailure {
  /** Static CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** When it wants to be asked again: milliseconds since the epoch. */
  readonly retryAt?: number | undefined;
}

/** An error, too, is of this form, and holds more. */
export function failureOf({ reason, message, retryAt }: ForgeFailure): ForgeFailure {
  return { reason, message, retryAt };
}

/** Milliseconds that a forge is left alone at most: what a proxy says by mistake must not silence us for a day. */
const longestMs = 3_600_000;

/**
 * Why a forge is not asked now: it limited us until a time to come, and GitHub bans clients that go on asking. Another
 * spec may mean another forge, and a person's request to look now is followed.
 */
export function forgeLimit(fleet: EtcdFleet, now: number): ForgeFailure | undefined {
  const { status, metadata } = fleet;
  const until = status?.forgeRetryAfter ?? '';
  const retryAt = Date.parse(until);
  if (!(retryAt > now) || status?.observedGeneration !== metadata.generation || wantsReconcile(fleet)) return undefined;
  const message = `the forge limits our requests, and is asked again after ${until}; to ask at once, annotate the fleet with ${annotations.reconcile}`;
  return { reason: 'RateLimited', message, retryAt };
}

/** For the status: until when the forge is left alone. Whole seconds, never earlier than it asked for. */
export function retryAfter(failure: ForgeFailure | undefined, now: Date): Pick<EtcdFleetStatus, 'forgeRetryAfter'> {
  const { retryAt } = failure ?? {};
  if (retryAt === undefined || retryAt <= now.getTime()) return {};
  const until = Math.min(retryAt, now.getTime() + longestMs);
  return { forgeRetryAfter: timestamp(new Date(Math.ceil(until / 1000) * 1000)) };
}
