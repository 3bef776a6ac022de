import type {
  ClusterHistoryEntry,
  ClusterMemberStatus,
  EtcdClusterStatus,
} from '../../../manifests/api/etcd-cluster-status.ts';
import { existingOf } from '../../../manifests/api/existing-cluster.ts';
import { compareVersions, formatVersion, isVersion, parseVersion } from '../../../manifests/api/version.ts';
import { selectorOf } from '../../../manifests/render/names.ts';
import { reconcileRequestOf } from '../../../manifests/render/reconcile-request.ts';
import { isAspirant } from '../../../manifests/render/volume-record.ts';
import { conditionsFrom } from '../../objects/conditions.ts';
import { withCure } from '../../reasons/cure.ts';
import { ofAttempts } from '../../reasons/waits.ts';
import { timestamp } from '../../time/timestamp.ts';
import { targetOf } from '../act/act.ts';
import { unknownSince } from '../know/adoption/inherited.ts';
import { existingKept } from '../know/adoption/kept.ts';
import { floorOf } from '../know/backups/revisions.ts';
import type { Decision } from '../know/decision.ts';
import { drainsStatement } from '../know/health/drains.ts';
import { ailmentOf, memberOf } from '../know/health/health.ts';
import { isReported } from '../know/leftovers.ts';
import { isAsleep, recordOf } from '../know/life.ts';
import { startOf } from '../know/membership/learners-time.ts';
import type { Slot } from '../know/observation.ts';
import { outageOf } from '../know/outage.ts';
import type { Outcome } from '../know/outcome.ts';
import type { Foretold } from '../know/plan/followed.ts';
import { livesGivenUp } from '../know/recovery/outvoted.ts';
import type { Situation } from '../know/situation.ts';
import { settled } from '../know/space/filling.ts';
import { soakOf } from '../know/versions/soak.ts';
import { attempts, awaitedAfter, hasLasted, waitingSince } from '../know/waiting.ts';
import { approvalsAsked } from './approvals.ts';
import { authStatement, authStatus } from './auth.ts';
import { availability } from './availability.ts';
import { certificatesStatement, certificatesStatus } from './certificates.ts';
import { statementsFor } from './conditions.ts';
import { driftStatement } from './drift.ts';
import { planAfter } from './followed-plan.ts';
import { goingOn } from './going-on.ts';
import { setAsideAfter } from './set-aside-after.ts';

const maxHistory = 20;

/** As the status has them. */
const kinds = { act: 'Act', wait: 'Wait', refuse: 'Refuse', done: 'Done' } as const;

/**
 * The status that reports what this step saw and did. Pure, and equal for equal facts: a comparison with the present
 * status tells whether a write is needed.
 *
 * @param foretold where a plan begins with this step
 */
export function statusFor(
  situation: Situation,
  decision: Decision,
  outcome: Outcome,
  foretold?: Foretold,
): EtcdClusterStatus {
  const { cluster, slots, membership, clusterVersion, at, effective, life } = situation;
  const previous = cluster.status;
  const generation = cluster.metadata.generation ?? 0;
  const members = membersOf(situation);
  const healthy = members.filter((member) => member.healthy).length;
  const leader = leaderOf(slots);
  const version = versionsOf(slots) ?? previous?.version;
  const clusterID =
    membership.kind === 'known' && life.stage !== 'unborn'
      ? membership.clusterId
      : life.stage === 'born'
        ? (life.clusterId ?? previous?.clusterID)
        : previous?.clusterID;
  const allHealthy = members.length > 0 && members.every(({ healthy }) => healthy);
  const outage = outageOf(situation);
  const setAside = setAsideAfter(situation, decision, outcome);
  const next = goingOn(situation, decision, outcome);
  const statements = statementsFor(next, next === decision ? outcome : { kind: 'none' }, {
    outage,
    allHealthy,
    failsForLong: hasLasted(attempts, ofAttempts, situation),
  });
  const approvals = approvalsAsked(next, situation);
  const isAsAsked = next.kind === 'done' && approvals.length === 0 && !situation.differs;
  const signers = isAsAsked ? [] : (situation.signers ?? previous?.signers ?? []);
  const certificates = certificatesStatus(situation);
  const auth = authStatus(situation);
  const history = historyAfter(previous?.history ?? [], decision, outcome, { at, generation });
  const plan = planAfter(situation, decision, outcome, foretold);
  const gaveUp = livesGivenUp(situation, life);
  const revisionFloor = floorOf(situation, life);
  const existing = existingKept(situation, decision.kind === 'act' ? decision.action : undefined);
  const isInDoubt = existingOf(cluster) !== undefined && situation.membership.kind === 'unknown';
  const awaited = awaitedAfter(decision, outcome);
  const answered = reconcileRequestOf(cluster) ?? previous?.lastHandledReconcileAt;
  return {
    observedGeneration: generation,
    ...(answered !== undefined && { lastHandledReconcileAt: answered }),
    ...(clusterID !== undefined && { clusterID }),
    ...(gaveUp.length > 0 && { gaveUp }),
    ...(existing && { existing }),
    ...(isInDoubt && { existingUnknownSince: unknownSince(situation) }),
    ...(revisionFloor !== undefined && { revisionFloor }),
    ...(leader !== undefined && { leader }),
    ...(version !== undefined && { version }),
    ...(clusterVersion !== undefined && { clusterVersion }),
    replicas: slots.filter((slot) => slot.peer?.current && !isPrepared(slot)).length,
    readyReplicas: healthy,
    membersReady: `${healthy}/${cluster.spec.replicas}`,
    selector: selectorOf(cluster.metadata.name),
    members,
    ...(certificates && { certificates }),
    ...(auth && { auth }),
    ...(effective.refusals.length > 0 && {
      refusals: effective.refusals.map(({ reason, message, cure, field }) => ({
        reason,
        message: withCure(message, cure),
        field,
      })),
    }),
    ...(approvals.length > 0 && { approvals }),
    ...(signers.length > 0 && { signers }),
    ...(setAside.length > 0 && { setAside }),
    ...(history.length > 0 && { history }),
    ...(plan && { plan }),
    ...soakAfter(situation, decision),
    lastDecision: {
      kind: kinds[decision.kind],
      reason: decision.reason,
      message: decision.message.slice(0, 2000),
      ...(awaited !== undefined && { waitingSince: timestamp(waitingSince(awaited, situation)) }),
    },
    ...(previous?.revision !== undefined && { revision: previous.revision }),
    conditions: conditionsFrom(
      [
        ...statements,
        availability(situation, outage),
        ...certificatesStatement(situation),
        ...authStatement(situation),
        ...drainsStatement(situation),
        ...driftStatement(situation),
      ],
      previous?.conditions,
      { generation, at },
    ),
  };
}

function membersOf(situation: Situation): readonly ClusterMemberStatus[] {
  const { slots, membership, cluster } = situation;
  const listed = membership.kind === 'known' ? membership.members : [];
  return slots
    .filter((slot) => isReported(slot) && !isPrepared(slot))
    .map((slot) => {
      const member = memberOf(slot, listed);
      const before = cluster.status?.members?.find(({ name }) => name === slot.name);
      const started = member?.isLearner ? startOf(slot, situation) : undefined;
      const id = member?.id ?? (slot.endpoint.kind === 'known' ? slot.endpoint.status.memberId : before?.id);
      return {
        name: slot.name,
        ...(id !== undefined && { id }),
        ...(member && { role: member.isLearner ? ('Learner' as const) : ('Voter' as const) }),
        ...(started && { startedAt: timestamp(started) }),
        ...healthOf(slot, situation, before),
        ...(slot.peer?.defragmented && { defragmentedAt: timestamp(slot.peer.defragmented.at) }),
        ...(slot.endpoint.kind === 'known' && {
          version: slot.endpoint.status.version,
          dbBytes: settled(before?.dbBytes, slot.endpoint.status.dbSize),
          dbInUseBytes: settled(before?.dbInUseBytes, slot.endpoint.status.dbSizeInUse),
        }),
      };
    });
}

/** For a rollback: it is no member yet. */
function isPrepared(slot: Slot): boolean {
  const record = recordOf(slot);
  return record !== undefined && isAspirant(record);
}

/**
 * The clock of `spec.healing`: it starts when a member is first seen unhealthy, and at the first look that finds it
 * well it is gone.
 */
function healthOf(
  slot: Slot,
  situation: Situation,
  before: ClusterMemberStatus | undefined,
): Pick<ClusterMemberStatus, 'healthy' | 'unhealthySince'> {
  if (ailmentOf(slot, situation) === undefined) return { healthy: true };
  if (isAsleep(slot)) return { healthy: false };
  return { healthy: false, unhealthySince: before?.unhealthySince ?? timestamp(situation.at) };
}

/** One, or the lowest and the highest; `undefined` when no member answers. */
function versionsOf(slots: readonly Slot[]): string | undefined {
  const answered = slots.flatMap(({ peer, endpoint }) =>
    peer?.current && endpoint.kind === 'known' && isVersion(endpoint.status.version) ? [endpoint.status.version] : [],
  );
  const [lowest, ...others] = answered.map(parseVersion).toSorted(compareVersions).map(formatVersion);
  const highest = others.at(-1) ?? lowest;
  return lowest === highest ? lowest : `${lowest}..${highest}`;
}

/** It begins when it is first waited for, and goes on until the last member has the version. */
function soakAfter(situation: Situation, { reason }: Decision): Pick<EtcdClusterStatus, 'soak'> {
  const soak = soakOf(situation);
  const isBegun = soak !== undefined && situation.cluster.status?.soak?.version === soak.version;
  return soak && (isBegun || reason === 'Soaking') ? { soak: { version: soak.version, since: soak.since } } : {};
}

function leaderOf(slots: readonly Slot[]): string | undefined {
  return slots.find(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.leader === endpoint.status.memberId)
    ?.name;
}

function historyAfter(
  history: readonly ClusterHistoryEntry[],
  decision: Decision,
  outcome: Outcome,
  { at, generation }: { readonly at: Date; readonly generation: number },
): readonly ClusterHistoryEntry[] {
  if (decision.kind !== 'act' || (outcome.kind !== 'acted' && outcome.kind !== 'failed')) return history;
  const target = targetOf(decision.action)?.slice(0, 253);
  const entry: ClusterHistoryEntry = {
    at: timestamp(at),
    action: decision.action.kind,
    ...(target !== undefined && { target }),
    reason: outcome.kind === 'failed' ? outcome.failure.reason : decision.reason,
    message: (outcome.kind === 'failed' ? outcome.failure.message : decision.message).slice(0, 1000),
    outcome: outcome.kind,
    generation,
  };
  const last = history.at(-1);
  const again =
    last?.outcome === 'failed' &&
    last.action === entry.action &&
    last.reason === entry.reason &&
    last.message === entry.message;
  return again ? history : [...history, entry].slice(-maxHistory);
}
