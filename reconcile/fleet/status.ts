import { type ApprovalAsked, longestFleetApprovalText } from '../../manifests/api/approval.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus, FleetCommitStatus } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { annotations } from '../../manifests/render/names.ts';
import { reconcileRequestOf } from '../../manifests/render/reconcile-request.ts';
import { fitted } from '../objects/approvals.ts';
import { conditionsFrom } from '../objects/conditions.ts';
import { timestamp } from '../time/timestamp.ts';
import { type ForgeFailure, forgeLimit, retryAfter } from './forge-limit.ts';
import { historyAfter } from './history.ts';
import { statusContext } from './names.ts';
import type { FleetOutcome } from './outcome.ts';
import { sourceMoved } from './prune.ts';
import type { SpecProblem } from './reading.ts';
import { type ClusterVerdict, rollUp } from './roll-up.ts';
import { rolloutApproval } from './rollout-approval.ts';
import { checksStatement, type Statement, statementsFor } from './statements.ts';
import { pruneApproval } from './unlisted.ts';
import { verificationAfter } from './verified.ts';

/** How the sending of commit statuses went. Absent: the fleet names no forge. */
export interface ForgeOutcome {
  readonly remembered: readonly FleetCommitStatus[];
  /** If not everything arrived. */
  readonly failure?: ForgeFailure;
}

export interface FleetReport {
  /** With the attempt that was recorded, or as listed where none was. */
  readonly fleet: EtcdFleet;
  readonly outcome: FleetOutcome;
  readonly clusters: readonly ClusterVerdict[];
  /** Objects that bear the fleet's label without being its own. */
  readonly strangers?: readonly string[];
  /** Objects with live fields that no commit set, and the fields. */
  readonly drifted?: readonly string[];
  readonly forge?: ForgeOutcome;
  /** As they were read in this pass, or are known still. */
  readonly othersStatuses?: EtcdFleetStatus['othersStatuses'];
  /** The API server's time. */
  readonly now: Date;
}

const maxProblems = 20;

/** The status after this pass. Pure, and equal for equal facts except for `lastRun`. */
export function fleetStatus(report: FleetReport): EtcdFleetStatus {
  const { fleet, outcome, clusters, forge, othersStatuses, now } = report;
  const { status, metadata } = fleet;
  const problems = problemsOf(fleet, outcome);
  const statements = [
    ...statementsFor({ ...report, problems }),
    ...forgeStatement(fleet, forge),
    ...checksStatement({ fleet }),
  ];
  const count = outcome.problems?.length ?? status?.problemCount ?? 0;
  const inventory = outcome.inventory ?? status?.inventory;
  const source = sourceOf(fleet, outcome);
  const verification = verificationAfter(fleet, outcome.reading);
  const { revision } = revisionOf(fleet, outcome);
  const halted = rolloutApproval(fleet, revision, clusters);
  const asked = [...pruneAsked(fleet, outcome), ...(halted ? [halted] : [])];
  // An earlier release wrote longer texts.
  const approvals = asked.map((one) => fitted(one, longestFleetApprovalText));
  const history = historyAfter(status?.history, outcome, timestamp(now));
  const answered = hasAnswered(outcome) ? reconcileRequestOf(fleet) : undefined;
  const lastHandledReconcileAt = answered ?? status?.lastHandledReconcileAt;
  // Where nothing was sent, what another pass, or a check, was told still holds.
  const limit = forge?.failure ?? forgeLimit(fleet, now.getTime());
  const commitStatuses = forge?.remembered ?? (fleet.spec.forge ? status?.commitStatuses : undefined);
  return {
    // A spec that was not looked at (a follow-up, an outage) has not been observed.
    observedGeneration: hasLooked(outcome) ? (metadata.generation ?? 0) : (status?.observedGeneration ?? -1),
    ...(revision && { revision }),
    ...(verification && { verification }),
    ...(history && { history }),
    ...(source && { source }),
    lastRun: timestamp(now),
    ...(lastHandledReconcileAt !== undefined && { lastHandledReconcileAt }),
    clusters: rollUp(clusters),
    ...(inventory && { inventory }),
    ...(problems.length > 0 && { problems: problems.slice(0, maxProblems).map(asReported), problemCount: count }),
    ...(approvals.length > 0 && { approvals }),
    ...(commitStatuses && commitStatuses.length > 0 && { commitStatuses }),
    ...(othersStatuses && { othersStatuses }),
    ...(fleet.spec.forge && { ...retryAfter(limit, now), ...(status?.reportsAs && { reportsAs: status.reportsAs }) }),
    // Checks are made, told and forgotten after this.
    ...(status?.checks && { checks: status.checks }),
    ...(status?.requestsFrom !== undefined && { requestsFrom: status.requestsFrom }),
    ...(status?.requestsSeen && { requestsSeen: status.requestsSeen }),
    conditions: conditionsFrom(statements, status?.conditions, { generation: metadata.generation ?? 0, at: now }),
  };
}

export function problemsOf({ status }: EtcdFleet, outcome: FleetOutcome): readonly Problem[] {
  if (outcome.problems) return outcome.problems;
  // A commit that was applied whole had none.
  return outcome.reading.kind === 'unchanged' ? [] : (status?.problems ?? []);
}

type Problem = Pick<SpecProblem, 'file' | 'line' | 'column' | 'message'>;

/** Whether the repository was asked, with whatever result, or the spec says not to ask. */
function hasLooked({ reading }: FleetOutcome): boolean {
  return reading.kind !== 'skipped' || reading.because === 'suspended';
}

/** What may pass by itself is asked again, and answered then: an answer says that everything was looked at. */
function hasAnswered({ reading }: FleetOutcome): boolean {
  return reading.kind === 'tree' || (reading.kind === 'failed' && !reading.retryable);
}

function revisionOf({ status }: EtcdFleet, { reading, applied }: FleetOutcome): Pick<EtcdFleetStatus, 'revision'> {
  const before = status?.revision;
  if (!applied || reading.kind !== 'tree') return before ? { revision: before } : {};
  return { revision: { ...before, attempted: reading.revision, applied: reading.revision } };
}

/** The inventory's source. A new place counts only once nothing is left from the old one: it deletes only its own. */
function sourceOf(
  fleet: EtcdFleet,
  { reading, inventory, unlisted, applied }: FleetOutcome,
): EtcdFleetStatus['source'] {
  const before = fleet.status?.source;
  if (reading.kind !== 'tree' || !inventory) return before;
  if (!sourceMoved(fleet)) return before;
  const { url, ref, path = fleetDefaults.path } = fleet.spec.git;
  return applied && unlisted?.kept.length === 0 ? { url, ref, path } : before;
}

/** Where this pass did not look, what was asked before is asked still, as its condition says. */
function pruneAsked({ status }: EtcdFleet, { unlisted }: FleetOutcome): readonly ApprovalAsked[] {
  if (unlisted === undefined)
    return (status?.approvals ?? []).filter(({ annotation }) => annotation === annotations.confirmPrune);
  const asked = pruneApproval(unlisted);
  return asked ? [asked] : [];
}

function forgeStatement(fleet: EtcdFleet, forge: ForgeOutcome | undefined): readonly Statement[] {
  if (!forge) return [];
  if (forge.failure) {
    const { reason, message } = forge.failure;
    return [{ type: 'StatusesReported', status: 'False', reason, message }];
  }
  const context = statusContext(fleet);
  const message =
    context === `etcd-ratchet/${fleet.metadata.name}`
      ? 'the forge has every commit status'
      : `the forge has every commit status, under ${context}: a fleet of the same name in another namespace reported on this repository first`;
  return [{ type: 'StatusesReported', status: 'True', reason: 'Reported', message }];
}

/** As long as a status or a report may have it. */
export function asReported({ file, line, column, message }: Problem): Problem {
  return { file: file.slice(0, 1024), line, column, message: message.slice(0, 2048) };
}
