import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterMemberStatus } from '../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetRevisionEntry, RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { Condition } from '../../manifests/api/metadata.ts';
import { verdictOf } from '../../reconcile/fleet/roll-up.ts';
import { states } from '../../reconcile/fleet/states.ts';
import { conditionOf, isTrue } from '../../reconcile/objects/conditions.ts';
import { meaningOf } from '../../reconcile/reasons/reasons.ts';

/** How something is doing, in the four colours that the page has. */
export type Tone = 'good' | 'busy' | 'bad' | 'calm';

export interface State {
  readonly tone: Tone;
  /** One or two words. */
  readonly word: string;
  readonly reason?: string;
  readonly message: string;
}

/** Of what has no status. */
const noPassYet = 'no pass has looked at it yet';

export function clusterState(cluster: EtcdCluster): State {
  const { status } = cluster;
  const { verdict, message: told } = verdictOf(cluster);
  const message = status || verdict !== 'InProgress' ? told : noPassYet;
  const { word } = states[verdict];
  switch (verdict) {
    case 'Failed':
      return { tone: 'bad', word, message, ...reasonOf(status, 'Stalled') };
    case 'Terminating':
      return { tone: 'busy', word, message };
    case 'InProgress':
      return { tone: 'busy', word, message, ...reasonOf(status, 'Reconciling') };
    case 'Current': {
      const reason = conditionOf(status, 'Ready')?.reason ?? '';
      return meaningOf(reason)?.isAsked
        ? { tone: 'calm', word: reason, message, reason }
        : { tone: 'good', word, message, reason };
    }
  }
}

export function fleetState({ metadata, spec, status }: EtcdFleet): State {
  if (metadata.deletionTimestamp !== undefined)
    return { tone: 'busy', word: states.Terminating.word, message: 'is being deleted' };
  const stalled = conditionOf(status, 'Stalled');
  if (stalled?.status === 'True') return { tone: 'bad', word: states.Failed.word, ...stalled };
  if (spec.suspend) return { tone: 'calm', word: 'Suspended', message: 'the repository is not looked at' };
  const ready = conditionOf(status, 'Ready');
  if (!ready) return { tone: 'busy', word: states.InProgress.word, message: noPassYet };
  const { reason, message } = ready;
  return ready.status === 'True'
    ? { tone: 'good', word: states.Current.word, reason, message }
    : { tone: 'busy', word: states.InProgress.word, reason, message };
}

/** Of what says no more than its conditions: a backup, a restore. */
export function readyState(status: { readonly conditions?: readonly Condition[] } | undefined): State {
  const ready = conditionOf(status, 'Ready');
  if (!ready) return { tone: 'busy', word: states.InProgress.word, message: noPassYet };
  const { reason, message } = ready;
  const tone = ready.status === 'True' ? 'good' : isTrue(status, 'Stalled') ? 'bad' : 'busy';
  return { tone, word: reason, reason, message };
}

/** Of a schedule: what is under way ends, also while it is suspended. */
export function scheduleState({ spec, status }: EtcdBackupSchedule): State {
  return spec.suspend ? { tone: 'calm', word: 'Suspended', message: 'no backup begins' } : readyState(status);
}

/** Of a node policy: one that reboots a node is Ready, and something goes on. */
export function policyState({ spec, status }: EtcdNodePolicy): State {
  if (spec.suspend) return { tone: 'calm', word: 'Suspended', message: 'no reboot begins' };
  const ready = readyState(status);
  return ready.tone === 'good' && (status?.inProgress ?? 0) > 0 ? { ...ready, tone: 'busy' } : ready;
}

/** Of a member, as etcd and its pod had it at the last pass. */
export function memberState({ healthy, unhealthySince, role }: ClusterMemberStatus): State {
  if (healthy) return { tone: 'good', word: 'Healthy', message: '' };
  if (unhealthySince === undefined) return { tone: 'calm', word: 'Stopped', message: '' };
  // A learner is still joining: no person is needed.
  return { tone: role === 'Voter' ? 'bad' : 'busy', word: 'Not healthy', message: '' };
}

function reasonOf(status: EtcdCluster['status'], type: string): { reason?: string } {
  const reason = conditionOf(status, type)?.reason;
  return reason === undefined ? {} : { reason };
}

const order = { bad: 0, busy: 1, calm: 2, good: 3 } as const satisfies Record<Tone, number>;

/** Objects that need a person come first; otherwise the API server's order (by name) stays. */
export function byUrgency<T>(items: readonly T[], stateOf: (item: T) => State): readonly T[] {
  return items.toSorted((a, b) => order[stateOf(a).tone] - order[stateOf(b).tone]);
}

interface CheckState {
  readonly tone: Tone;
  readonly word: string;
}

const checkStates = {
  pending: { tone: 'busy', word: 'Being checked' },
  success: { tone: 'good', word: 'Passed' },
  failure: { tone: 'bad', word: 'Failed' },
  error: { tone: 'busy', word: 'Not checked' },
  withheld: { tone: 'calm', word: 'From a fork' },
  untouched: { tone: 'calm', word: 'Changes nothing' },
} as const satisfies Record<RequestCheck['state'], CheckState>;

/** Also for a state that only a newer version knows. */
export function checkState(state: RequestCheck['state']): CheckState {
  return Object.hasOwn(checkStates, state) ? checkStates[state] : { tone: 'calm', word: state };
}

/** What came of a commit. */
export const revisionTones: Readonly<Record<FleetRevisionEntry['outcome'], Tone>> = {
  Applied: 'good',
  Refused: 'bad',
  Retrying: 'busy',
  Unreadable: 'bad',
  Unverified: 'bad',
};
