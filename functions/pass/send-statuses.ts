import { isSent } from '../../gitops/statuses/sent.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import { pendingOf } from '../../reconcile/fleet/pending-record.ts';
import type { ForgeOutcome } from '../../reconcile/fleet/status.ts';
import type { WantedStatus } from '../../reconcile/fleet/wanted-statuses.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { openFleetForge } from './fleet-forge.ts';
import { keepPending, type Records } from './pending-records.ts';

/** As {@link sendStatuses}, with what is pending kept on record before it is sent, for the case that the fleet goes. */
export async function sendOnRecord(
  fleet: EtcdFleet,
  wanted: readonly WantedStatus[],
  { records, deadline, ...context }: SendContext,
): Promise<ForgeOutcome | undefined> {
  const { kube, signal } = context;
  const send = () => sendStatuses(fleet, wanted, { kube, signal, deadline });
  if (!records || (!fleet.spec.forge && !fleet.status?.commitStatuses)) return send();
  const before = fleet.spec.forge ? [...(fleet.status?.commitStatuses ?? []), ...wanted] : [];
  const kept = await keepPending(fleet, pendingOf(before), { ...context, records });
  const outcome = await send();
  await keepPending(fleet, pendingOf(outcome?.remembered ?? []), { ...context, records }, kept);
  return outcome;
}

interface SendContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly fleets: readonly EtcdFleet[];
  readonly records: Records | undefined;
}

/**
 * Sends changed statuses to the forge; only then is the Secret read. A forge that limits us is left alone. Never throws
 * because of the forge: a status is only news about the work. `undefined` when the fleet names no forge.
 */
async function sendStatuses(
  fleet: EtcdFleet,
  wanted: readonly WantedStatus[],
  { kube, signal, deadline }: { readonly kube: Kube; readonly signal: AbortSignal; readonly deadline: number },
): Promise<ForgeOutcome | undefined> {
  if (!fleet.spec.forge) return undefined;
  const before = fleet.status?.commitStatuses ?? [];
  if (wanted.every((status) => before.some((sent) => isSent(status, sent)))) return { remembered: before };
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
