import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { keyOf, ownObjects, strangersOf } from '../../reconcile/fleet/names.ts';
import { hasOthers, identityOfObject, listApplied, type OtherObject } from '../../reconcile/fleet/objects.ts';
import { appliedRevision, type FleetOutcome, withInventory } from '../../reconcile/fleet/outcome.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import { objectsOf } from '../../reconcile/fleet/plan.ts';
import { shaOf } from '../../reconcile/fleet/reading.ts';
import { driftedAmong, unseenAmong, verdictsOf } from '../../reconcile/fleet/roll-up.ts';
import { type FleetReport, fleetStatus, problemsOf } from '../../reconcile/fleet/status.ts';
import { wantedStatuses } from '../../reconcile/fleet/wanted-statuses.ts';
import { differs, writeFleetStatus } from '../../reconcile/fleet/write.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { readOthersStatuses } from './others-statuses.ts';
import type { Records } from './pending-records.ts';
import { withReportName } from './reports-as.ts';
import { sendOnRecord } from './send-statuses.ts';
import { tellFleet } from './tell-fleet.ts';

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
  readonly links?: PageLinks | undefined;
  /** Absent: pending statuses are kept nowhere. */
  readonly records?: Records | undefined;
}

/**
 * Tells the forge and the fleet's status how things are, with at most one write, and returns the fleet as it is now.
 * Never throws for what the API server or the forge says; the next pass reports again.
 */
export async function reportFleet(
  { fleet: found, outcome }: { readonly fleet: EtcdFleet; readonly outcome: FleetOutcome },
  clusters: readonly EtcdCluster[],
  { kube, log, signal, forgeDeadline, always, fleets, links, applied: listed, records }: ReportContext,
): Promise<EtcdFleet> {
  const fleet = withReportName(found, fleets);
  const left = withInventory(fleet, outcome);
  const more = hasOthers(left) ? await (listed ?? (() => listApplied(kube, undefined, signal)))() : [];
  const leftOut = kube.leftOut();
  const objects = objectsOf({ clusters, others: more, leftOut });
  const own = ownObjects(left, objects);
  const verdicts = [...verdictsOf(own), ...unseenAmong(left.status?.inventory ?? [], leftOut)];
  const problems = problemsOf(fleet, outcome);
  const wanted = wantedStatuses({ fleet, outcome, problems, clusters: verdicts, links });
  const sent = await sendOnRecord(fleet, wanted, { kube, log, signal, fleets, records, deadline: forgeDeadline });
  const applied = appliedRevision(fleet, outcome);
  const others = await readOthersStatuses(fleet, applied === undefined ? undefined : shaOf(applied), {
    isSettled: verdicts.every(({ verdict }) => verdict === 'Current'),
    said: sent?.failure,
    kube,
    signal,
    deadline: forgeDeadline,
  });
  const failure = sent?.failure ?? others.failure;
  const forge = sent && { ...sent, ...(failure && { failure }) };
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
    drifted: driftedAmong(own),
    ...(forge && { forge }),
    ...(others.read && { othersStatuses: others.read }),
    now: kube.now() ?? new Date(),
  };
  const status = fleetStatus(report);
  if (!always && !differs(found.status, status)) return found;
  try {
    if (await writeFleetStatus(kube, found, status, signal)) await tellFleet({ kube, log, signal }, found, status);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    log({ fleet: keyOf(fleet), problem: error.message }, 'the status could not be written');
  }
  return { ...fleet, status };
}
