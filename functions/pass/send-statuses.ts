import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import type { ForgeOutcome } from '../../reconcile/fleet/status.ts';
import type { WantedStatus } from '../../reconcile/fleet/wanted-statuses.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { openFleetForge } from './fleet-forge.ts';

/**
 * Tells the forge what changed since the last time, if anything did; the Secret is read only then. A forge that limits
 * us is left alone until the time that it named.
 *
 * Never throws because of the forge, its Secret or the way there: a status is news about the work, not the work.
 *
 * @returns `undefined` when the fleet names no forge
 */
export async function sendStatuses(
  fleet: EtcdFleet,
  wanted: readonly WantedStatus[],
  { kube, signal, deadline }: { readonly kube: Kube; readonly signal: AbortSignal; readonly deadline: number },
): Promise<ForgeOutcome | undefined> {
  if (!fleet.spec.forge) return undefined;
  const before = fleet.status?.commitStatuses ?? [];
  if (wanted.every((status) => before.some((sent) => isSame(status, sent)))) return { remembered: before };
  const limit = forgeLimit(fleet, Date.now());
  if (limit) return { remembered: before, failure: limit };

  const opened = await openFleetForge(fleet, { kube, signal });
  if (opened?.kind !== 'open') return { remembered: before, ...(opened && { failure: opened }) };
  const { sendChanged } = await import('../../gitops/statuses/report.ts');
  // What the status holds was sent by this very function.
  const lastSent = before as Parameters<typeof sendChanged>[2];
  const { sent, failure } = await sendChanged(opened.forge, wanted, lastSent, { signal, deadline });
  return { remembered: sent, ...(failure && { failure }) };
}

function isSame(wanted: WantedStatus, sent: ForgeOutcome['remembered'][number]): boolean {
  return (
    wanted.sha === sent.sha &&
    wanted.context === sent.context &&
    wanted.state === sent.state &&
    wanted.description === sent.description &&
    wanted.targetURL === sent.targetURL
  );
}
