import type { ClusterPlan } from '../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleetStatus, FleetInventoryEntry } from '../../manifests/api/etcd-fleet-status.ts';
import type { Condition } from '../../manifests/api/metadata.ts';
import type { LeftOut } from '../interfaces/kube.ts';
import { conditionOf, isTrue } from '../objects/conditions.ts';
import { driftOf, sayDrift } from '../objects/drift.ts';
import { sayLeftOut } from '../objects/left-out.ts';
import { courseOf, isOutage, says } from '../reasons/reasons.ts';
import { type KStatus, kstatusOf } from './kstatus.ts';
import { type FleetObject, identityOfObject, type OtherKind, otherKindOf } from './objects.ts';
import { states } from './states.ts';

/** One object that the fleet applied, in a line: for the fleet's conditions and for commit statuses. */
export interface ClusterVerdict {
  /** Absent: EtcdCluster. */
  readonly kind?: OtherKind;
  readonly namespace: string;
  readonly name: string;
  readonly verdict: KStatus;
  readonly message: string;
  /** What became of the plan for this spec, once that is over: news on the commit that asked for it. */
  readonly receipt?: string;
  /** Clients that it should serve are not served: told before anything else that is awaited. */
  readonly outage?: true;
  /** What its fleet's rollout halts keeps it from taking the commit. */
  readonly isHalted?: true;
  /** Of commits that it does not do yet, where approvals take four eyes. */
  readonly signers?: readonly string[];
}

export function verdictOf(object: FleetObject): ClusterVerdict {
  const verdict = restsAsAsked(object) ? 'Current' : kstatusOf(object);
  const { namespace = '', name } = object.metadata;
  const kind = otherKindOf(object.kind);
  const message = messageOf(object, verdict);
  const isDown = verdict !== 'Terminating' && outageOf(object) !== undefined;
  const receipt = verdict === 'Current' ? receiptOf(object) : undefined;
  return {
    ...(kind && { kind }),
    ...{ namespace, name, verdict, message },
    ...(receipt !== undefined && { receipt }),
    ...(isDown && { outage: true }),
    ...(isHalted(object) && { isHalted: true }),
    ...signersOf(object),
  };
}

/** Of the spec that it has: an earlier one was halted for another commit. */
function isHalted({ status, metadata }: FleetObject): boolean {
  const last = status && 'lastDecision' in status ? status.lastDecision : undefined;
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && says(last, 'RolloutHalted') && metadata.deletionTimestamp === undefined;
}

function signersOf({ status }: FleetObject): Pick<ClusterVerdict, 'signers'> {
  return status && 'signers' in status && status.signers ? { signers: status.signers } : {};
}

const ended: ReadonlySet<string> = new Set<ClusterPlan['state']>(['AsPlanned', 'Left']);

function receiptOf({ metadata, status }: FleetObject): string | undefined {
  const plan = status && 'plan' in status ? status.plan : undefined;
  return plan && plan.generation === metadata.generation && ended.has(plan.state) ? plan.message : undefined;
}

function outageOf({ status }: FleetObject): Condition | undefined {
  const available = conditionOf(status, 'Available');
  return available?.status === 'False' && isOutage(available.reason) ? available : undefined;
}

/** A commit asked to suspend it: there is nothing to wait for. Not in an outage, which is Stalled. */
function restsAsAsked({ metadata, status }: FleetObject): boolean {
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && !isTrue(status, 'Stalled') && courseOf(conditionOf(status, 'Ready')?.reason) === 'stopped';
}

function messageOf(object: FleetObject, verdict: KStatus): string {
  const { metadata, status } = object;
  switch (verdict) {
    case 'Current': {
      const drift = driftOf(object.kind, object);
      const ready = conditionOf(status, 'Ready')?.message || 'ready';
      return drift ? `has what Git does not list: ${sayDrift(drift, 1)}; ${ready}` : ready;
    }
    case 'Failed':
      return conditionOf(status, 'Stalled')?.message || 'stalled';
    case 'Terminating':
      return 'is being deleted';
    case 'InProgress': {
      const current = status?.observedGeneration === metadata.generation;
      const told = conditionOf(status, 'Reconciling')?.message || conditionOf(status, 'Ready')?.message;
      if (current && told) return told;
      // What was said about an earlier spec says nothing about this one, but for an outage.
      const outage = outageOf(object);
      return `${outage ? `${outage.message}; ` : ''}the change has not been acted on yet`;
    }
  }
}

/** Of clusters alone: what else a fleet applies is told by its conditions. */
export function rollUp(verdicts: readonly ClusterVerdict[]): NonNullable<EtcdFleetStatus['clusters']> {
  const clusters = verdicts.filter(({ kind }) => kind === undefined);
  const count = (wanted: (typeof states)[KStatus]['count']) =>
    clusters.filter(({ verdict }) => states[verdict].count === wanted).length;
  return {
    total: clusters.length,
    ready: count('ready'),
    reconciling: count('reconciling'),
    stalled: count('stalled'),
  };
}

/** Of each object that has fields which no commit set, the first of them. */
export function driftedAmong(objects: readonly FleetObject[]): string[] {
  return objects
    .flatMap((object) => {
      const drift = driftOf(object.kind, object);
      return drift ? [`${identityOfObject(object)}: ${sayDrift(drift, 3)}`] : [];
    })
    .sort();
}

/** What this pass can't see is not known to be as asked: a fleet is not done with it. */
export function unseenAmong(
  inventory: readonly FleetInventoryEntry[],
  leftOut: ReadonlyMap<string, LeftOut>,
): ClusterVerdict[] {
  return inventory.flatMap((entry): ClusterVerdict[] => {
    const { namespace, name } = entry;
    const why = leftOut.get(namespace);
    const kind = otherKindOf(entry.kind);
    const message = why && sayLeftOut(namespace, why);
    return message ? [{ ...(kind && { kind }), namespace, name, verdict: 'InProgress', message }] : [];
  });
}

/** By namespace and name, so that the first one named in a message is the same in every pass. */
export function verdictsOf(objects: readonly FleetObject[]): ClusterVerdict[] {
  return objects.toSorted((a, b) => (identityOfObject(a) < identityOfObject(b) ? -1 : 1)).map(verdictOf);
}
