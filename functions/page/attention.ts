import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fillingInWords, fillingSteps } from '../../reconcile/cluster/know/space/filling.ts';
import type { LeftOut } from '../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { leftOutWithCure } from '../../reconcile/objects/left-out.ts';
import { withCure } from '../../reconcile/reasons/cure.ts';
import { isOutage, says } from '../../reconcile/reasons/reasons.ts';
import { fillingSeen } from './quota.ts';
import { clusterState, fleetState } from './state.ts';
import { duration } from './time.ts';

export interface Concern {
  /** `bad`: it does not go on without a person. `busy`: it goes on, but a person should know. */
  readonly tone: 'bad' | 'busy';
  readonly reason: string;
  readonly message: string;
}

/** A CronJob ticks every minute; after this long without a pass something is wrong with the trigger. */
export const silentMs = 15 * 60_000;

export function leftOutConcern([namespace, why]: readonly [string, LeftOut]): Concern {
  return { tone: 'bad', reason: 'NamespaceLeftOut', message: leftOutWithCure(namespace, why) };
}

export function clusterConcerns(cluster: EtcdCluster): readonly Concern[] {
  const { status } = cluster;
  const state = clusterState(cluster);
  const stalled: Concern[] =
    state.tone === 'bad' ? [{ tone: 'bad', reason: state.reason ?? 'Stalled', message: state.message }] : [];
  const available = conditionOf(status, 'Available');
  const dark = available?.status === 'False' && isOutage(available.reason);
  const certificates = conditionOf(status, 'CertificatesReady');
  const users = conditionOf(status, 'AuthReady');
  const aside = conditionOf(status, 'SetAside');
  const drifted = conditionOf(status, 'Drifted');
  return [
    ...stalled,
    ...(aside?.status === 'True' ? [{ tone: 'bad' as const, ...said(aside) }] : []),
    ...(dark && stalled.length === 0 ? [{ tone: 'bad' as const, ...said(available) }] : []),
    ...(certificates?.status === 'False' && stalled.length === 0
      ? [{ tone: 'busy' as const, ...said(certificates) }]
      : []),
    ...(users && says(users, 'UnlistedUsers') ? [{ tone: 'busy' as const, ...said(users) }] : []),
    ...fillingConcern(cluster),
    ...(drifted?.status === 'True' ? [{ tone: 'busy' as const, ...said(drifted) }] : []),
    ...(status?.refusals ?? [])
      .filter(({ reason }) => reason !== state.reason && reason !== aside?.reason)
      .map(({ reason, message }) => ({ tone: 'busy' as const, reason, message })),
  ];
}

/** Also of a cluster that rolls, is paused, or needs a person for something else: it fills all the same. */
export function fillingConcern(cluster: EtcdCluster): readonly Concern[] {
  const filling = fillingSeen(cluster);
  const isFull = conditionOf(cluster.status, 'Available')?.reason === 'NoSpace';
  if (!filling || isFull) return [];
  const message = withCure(
    fillingInWords(filling),
    'delete what is no longer needed, let clients compact, or raise spec.etcd.quotaBackendBytes, which starts members anew',
  );
  return [{ tone: filling.percent === fillingSteps[0] ? 'bad' : 'busy', reason: 'QuotaFills', message }];
}

/** What stands beside a cluster in a list: a good state needs no words, but for a quota that fills. */
export function toldBeside(cluster: EtcdCluster): { readonly reason?: string; readonly message: string } | undefined {
  const state = clusterState(cluster);
  return state.tone === 'good' ? fillingConcern(cluster)[0] : state;
}

export function fleetConcerns(fleet: EtcdFleet, now: Date): readonly Concern[] {
  const { metadata, status } = fleet;
  const state = fleetState(fleet);
  const concerns: Concern[] = [];
  // A stalled cluster speaks for itself.
  if (state.tone === 'bad' && state.reason !== 'ClusterStalled') {
    concerns.push({ tone: 'bad', reason: state.reason ?? 'Stalled', message: state.message });
  }
  // A fleet that no pass has ever looked at is silent since it was made.
  const silence = now.getTime() - Date.parse(status?.lastRun ?? metadata.creationTimestamp ?? '');
  if (silence > silentMs) {
    const message = `no pass for ${duration(silence)}: is the CronJob suspended, or has its trigger stopped?`;
    concerns.push({ tone: 'bad', reason: 'NoPass', message });
  }
  for (const [type, wrong] of [
    ['SourceReady', 'False'],
    ['StatusesReported', 'False'],
    ['RequestsChecked', 'False'],
    ['Unlisted', 'True'],
    ['ForeignLabel', 'True'],
    ['Drifted', 'True'],
  ] as const) {
    const condition = conditionOf(status, type);
    if (condition?.status === wrong && condition.reason !== state.reason) {
      concerns.push({ tone: 'busy', ...said(condition) });
    }
  }
  return concerns;
}

function said({ reason, message }: { readonly reason: string; readonly message: string }) {
  return { reason, message };
}
