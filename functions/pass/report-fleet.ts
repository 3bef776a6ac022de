import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { forgeLimit } from '../../reconcile/fleet/forge-limit.ts';
import { keyOf, ownObjects, strangersOf } from '../../reconcile/fleet/names.ts';
import { hasOthers, identityOfObject, listApplied, type OtherObject } from '../../reconcile/fleet/objects.ts';
import { type FleetOutcome, withInventory } from '../../reconcile/fleet/outcome.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import { objectsOf } from '../../reconcile/fleet/plan.ts';
import { verdictsOf } from '../../reconcile/fleet/roll-up.ts';
import { type FleetReport, type ForgeOutcome, fleetStatus, problemsOf } from '../../reconcile/fleet/status.ts';
import { type WantedStatus, wantedStatuses } from '../../reconcile/fleet/wanted-statuses.ts';
import { differs, writeFleetStatus } from '../../reconcile/fleet/write.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { openFleetForge } from './fleet-forge.ts';
import { withReportName } from './reports-as.ts';

export interface ReportContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** When the forge must have been given up, in milliseconds since the epoch. */
  readonly forgeDeadline: number;
  /** A tick leaves the time of its run also where nothing else changed; a follow-up does not. */
  readonly always: boolean;
  /** All there are: two of them may have one name. */
  readonly fleets: readonly EtcdFleet[];
  /** What else the fleet applies, asked for only where it does. Absent: listed. */
  readonly applied?: () => Promise<readonly OtherObject[]>;
  /** Where statuses lead. */
  readonly links?: PageLinks | undefined;
}

/**
 * Tells the forge and the fleet's status how things are, with at most one write, and returns the fleet as it is now.
 * Never throws for what the API server or the forge says; the next pass reports again.
 */
export async function reportFleet(
  { fleet: found, outcome }: { readonly fleet: EtcdFleet; readonly outcome: FleetOutcome },
  clusters: readonly EtcdCluster[],
  { kube, log, signal, forgeDeadline, always, fleets, links, applied }: ReportContext,
): Promise<EtcdFleet> {
  const fleet = withReportName(found, fleets);
  const left = withInventory(fleet, outcome);
  const more = hasOthers(left) ? await (applied ?? (() => listApplied(kube, undefined, signal)))() : [];
  const objects = objectsOf({ clusters, others: more });
  const verdicts = verdictsOf(ownObjects(left, objects));
  const problems = problemsOf(fleet, outcome);
  const wanted = wantedStatuses({ fleet, outcome, problems, clusters: verdicts, links });
  const forge = await sendStatuses(fleet, wanted, { kube, signal, deadline: forgeDeadline });
  if (forge?.failure) {
    log(
      { fleet: keyOf(fleet), reason: forge.failure.reason, problem: forge.failure.message },
      'the forge was not told',
    );
  }
  const report: FleetReport = {
    fleet,
    outcome,
    clusters: verdicts,
    strangers: strangersOf(left, objects).map(identityOfObject),
    ...(forge && { forge }),
    now: kube.now() ?? new Date(),
  };
  const status = fleetStatus(report);
  if (!always && !differs(found.status, status)) return found;
  try {
    await writeFleetStatus(kube, found, status, signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), problem: error.message }, 'the status could not be written');
  }
  return { ...fleet, status };
}

/**
 * Sends changed statuses to the forge; the Secret is read only then, and a forge that limits us is left alone. Never
 * throws because of the forge, its Secret or the way there: a status is news about the work, not the work. `undefined`
 * when the fleet names no forge.
 */
async function sendStatuses(
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
