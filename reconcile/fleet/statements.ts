import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { labels } from '../../manifests/render/names.ts';
import type { Reason } from '../reasons/reasons.ts';
import { withRunbook } from '../reasons/runbook.ts';
import { keyOf } from './names.ts';
import type { FleetOutcome } from './outcome.ts';
import type { Reading, SpecProblem } from './reading.ts';
import type { ClusterVerdict } from './roll-up.ts';
import { enumerate, unlistedMessage, unlistedReason } from './unlisted.ts';
import { verificationAfter } from './verified.ts';

/** A condition's content; when it last changed is worked out against what was there. */
export interface Statement {
  readonly type:
    | 'Ready'
    | 'Reconciling'
    | 'Stalled'
    | 'SourceReady'
    | 'Unlisted'
    | 'ForeignLabel'
    | 'Drifted'
    | 'StatusesReported'
    | 'RequestsChecked';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface FleetFacts {
  readonly fleet: EtcdFleet;
  readonly outcome: FleetOutcome;
  /** Problems of documents, from this pass or, if it did not look, as last reported. */
  readonly problems: readonly Pick<SpecProblem, 'file' | 'line' | 'column' | 'message'>[];
  readonly clusters: readonly ClusterVerdict[];
  /** Objects that bear the fleet's label without being its own, as `<namespace>/<name>`. */
  readonly strangers?: readonly string[];
  /** Objects with live fields that no commit set, and the fields. */
  readonly drifted?: readonly string[];
}

interface Progress {
  readonly kind: 'stalled' | 'reconciling' | 'ready';
  readonly reason: string;
  readonly message: string;
  /** The object whose message it is, where it is one's. */
  readonly subject?: ClusterVerdict;
  /** An outage of another object, after the message. */
  readonly besides?: ClusterVerdict;
}

/**
 * The fleet's kstatus: `Ready` always, `Reconciling` and `Stalled` only while true, never both. Needs for a person come
 * first, even while others are busy; an outage is always reported, before any wait.
 */
export function progressOf(facts: FleetFacts): Progress {
  const { clusters } = facts;
  const down = clusters.find(({ outage }) => outage);
  const stuck = stuckOf(facts);
  if (stuck && (stuck.subject?.outage || !down)) return stuck;
  if (stuck && down) return { ...stuck, message: `${stuck.message}; ${named(down)}`, besides: down };
  if (down) return { ...reconciling('ClustersInProgress', named(down)), subject: down };
  return busyOf(facts);
}

/** What does not go on without a person. */
function stuckOf({ outcome, problems, clusters, fleet }: FleetFacts): Progress | undefined {
  const { reading } = outcome;
  if (reading.kind === 'failed' && !reading.retryable) return stalled(reading.reason, reading.message);

  const [first] = problems;
  if (first) return stalled('DocumentsRefused', problems.length > 1 ? `${place(first)}; and others` : place(first));

  if (outcome.unlisted?.confirmation) {
    return stalled('PruneNeedsConfirmation', unlistedMessage(keyOf(fleet), outcome.unlisted));
  }
  const failed = clusters.filter(({ verdict }) => verdict === 'Failed');
  const worst = failed.find(({ outage }) => outage) ?? failed[0];
  if (!worst) return undefined;
  return {
    ...stalled(worst.kind === undefined ? 'ClusterStalled' : 'BackupsStalled', named(worst)),
    subject: worst,
  };
}

/** What goes on by itself, or rests. */
function busyOf({ outcome, clusters, fleet }: FleetFacts): Progress {
  const { reading } = outcome;
  if (reading.kind === 'failed') return reconciling('ProgressingWithRetry', `${reading.message}; this is tried again`);
  const [retry] = outcome.retries;
  if (retry !== undefined) return reconciling('ProgressingWithRetry', `${retry}; this is tried again`);

  const busy = clusters.find(({ verdict }) => verdict !== 'Current');
  if (busy) {
    const reason = busy.kind === undefined ? 'ClustersInProgress' : 'BackupsInProgress';
    return { ...reconciling(reason, named(busy)), subject: busy };
  }

  if (reading.kind === 'skipped' && reading.because === 'suspended') {
    return { kind: 'ready', reason: 'Suspended', message: 'suspended: the repository is not read' };
  }
  if (clusters.length === 0) {
    const { url, ref, path = fleetDefaults.path } = fleet.spec.git;
    return {
      kind: 'ready',
      reason: 'NoClusters',
      message: `no EtcdCluster is listed under ${path} of ${url} at ${ref}`,
    };
  }
  return { kind: 'ready', reason: 'ClustersReady', message: 'every cluster is ready' };
}

export function named({ kind, namespace, name, message }: ClusterVerdict): string {
  return `${kind === undefined ? '' : `${kind} `}${namespace}/${name}: ${message}`;
}

export function statementsFor(facts: FleetFacts): readonly Statement[] {
  const { kind, reason, message } = progressOf(facts);
  return [
    { type: 'Ready', status: kind === 'ready' ? 'True' : 'False', reason, message },
    ...(kind === 'reconciling' ? [{ type: 'Reconciling', status: 'True', reason, message } as const] : []),
    ...(kind === 'stalled'
      ? [{ type: 'Stalled', status: 'True', reason, message: withRunbook(message, 'EtcdFleet') } as const]
      : []),
    ...sourceStatement(facts),
    ...unlistedStatement(facts),
    ...strangersStatement(facts),
    ...driftedStatement(facts),
  ];
}

/** Whether Git gave what was asked. Where Git was not asked, the last answer stands. */
function sourceStatement({ outcome: { reading }, fleet }: FleetFacts): readonly Statement[] {
  switch (reading.kind) {
    case 'skipped':
      return kept(fleet, 'SourceReady');
    case 'failed':
      return [{ type: 'SourceReady', status: 'False', reason: reading.reason, message: reading.message }];
    case 'unchanged':
    case 'tree':
      return [{ type: 'SourceReady', status: 'True', reason: 'Read', message: wasRead(fleet, reading) }];
  }
}

function wasRead(fleet: EtcdFleet, reading: Extract<Reading, { kind: 'unchanged' | 'tree' }>): string {
  const verification = verificationAfter(fleet, reading);
  if (verification?.revision !== reading.revision) return `${reading.revision} was read`;
  return `${reading.revision} was read, signed by ${verification.signedBy} (${verification.key})`;
}

/** Abnormal while true: there only as long as something is live that Git no longer lists. */
function unlistedStatement({ outcome: { unlisted }, fleet }: FleetFacts): readonly Statement[] {
  if (unlisted === undefined) return kept(fleet, 'Unlisted');
  const reason = unlistedReason(unlisted);
  if (!reason) return [];
  return [{ type: 'Unlisted', status: 'True', reason, message: unlistedMessage(keyOf(fleet), unlisted) }];
}

/** Abnormal while true. Names only, and few: strangers choose how many there are. */
function strangersStatement({ strangers = [] }: FleetFacts): readonly Statement[] {
  if (strangers.length === 0) return [];
  const bear = strangers.length === 1 ? 'bears' : 'bear';
  const message = `${enumerate(strangers.toSorted())} ${bear} this fleet's label ${labels.fleet}, and the fleet did not apply ${strangers.length === 1 ? 'it' : 'them'}: that counts for nothing here; list them in the fleet's files if they are its own, or remove the label`;
  return [{ type: 'ForeignLabel', status: 'True', reason: 'NotInInventory', message }];
}

/** Abnormal while true, and nothing waits for it. */
function driftedStatement({ drifted = [] }: FleetFacts): readonly Statement[] {
  if (drifted.length === 0) return [];
  const message = `live, and set by no file of this fleet: ${drifted.slice(0, 10).join('; ')}${drifted.length > 10 ? '; and others' : ''}. List these fields in Git, or remove them with kubectl; Drifted of an EtcdCluster has the command`;
  return [{ type: 'Drifted', status: 'True', reason: 'FieldsNotInGit' satisfies Reason, message }];
}

/** Requests are checked after everything else is told; where they are not, nothing is said of them. */
export function checksStatement({ fleet }: Pick<FleetFacts, 'fleet'>): readonly Statement[] {
  return wantsChecks(fleet) ? kept(fleet, 'RequestsChecked') : [];
}

/** Whether the spec asks for checks of requests; one that is suspended still does. */
export function wantsChecks({ spec: { forge, checks } }: Pick<EtcdFleet, 'spec'>): boolean {
  return forge !== undefined && (checks?.pullRequests ?? fleetDefaults.pullRequests) === 'Enabled';
}

function kept({ status }: EtcdFleet, type: Statement['type']): readonly Statement[] {
  const before = status?.conditions?.find((condition) => condition.type === type);
  if (!before || before.status === 'Unknown') return [];
  return [{ type, status: before.status, reason: before.reason, message: before.message }];
}

/** `file:line:column: message`, as editors and compilers write it. */
export function place({
  file,
  line,
  column,
  message,
}: Pick<SpecProblem, 'file' | 'line' | 'column' | 'message'>): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

function stalled(reason: string, message: string): Progress {
  return { kind: 'stalled', reason, message };
}

function reconciling(reason: string, message: string): Progress {
  return { kind: 'reconciling', reason, message };
}
