import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetCommitStatus } from '../../manifests/api/etcd-fleet-status.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import type { Listed } from '../stepping/lists.ts';
import { statusContext } from './names.ts';

/**
 * A record of a fleet while the forge shows statuses of it as pending, so that they end when the fleet is deleted.
 *
 * It names a Secret and the host that gets it, so it counts only in the namespace of the installation: a tenant with
 * ConfigMaps of a fleet's namespace must not direct the Secret of another to a host of his.
 */
export interface PendingRecord {
  readonly fleet: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly url: string;
  readonly forge: NonNullable<EtcdFleet['spec']['forge']>;
  /** What the contexts begin with. */
  readonly root: string;
  readonly statuses: readonly PendingStatus[];
}

export type PendingStatus = Pick<FleetCommitStatus, 'sha' | 'context' | 'targetURL'>;

/** Their list among those of a pass: mostly the step of clusters has listed them with its own ConfigMaps. */
export const pendingRecords = 'pendingRecord';

export function onlyPending({ items, resourceVersion }: Listed<ConfigMap>): Listed<ConfigMap> {
  return { items: items.filter(({ metadata }) => metadata.labels?.[labels.pendingStatuses]), resourceVersion };
}

/** Keys of the ConfigMap's data. */
export const recordKeys = { record: 'record.json', retry: 'retry.json' } as const;

/** Of records whose fleet is deleted, for each namespace of fleets: deleting fleets over and over is bounded. */
export const maxOrphansPerNamespace = 20;

/** Where the statuses are pending, by context and commit. */
export function pendingOf(
  statuses: readonly (PendingStatus & Pick<FleetCommitStatus, 'state'>)[],
): readonly PendingStatus[] {
  const found = new Map(
    statuses
      .filter(({ state }) => state === 'pending')
      .map(({ sha, context, targetURL }) => [`${sha} ${context}`, { sha, context, ...(targetURL && { targetURL }) }]),
  );
  return [...found.values()].sort((a, b) => (a.context < b.context ? -1 : 1));
}

export function recordName(uid: string): string {
  return `etcd-ratchet-pending-${uid}`;
}

export function isOrphan({ metadata }: ConfigMap, fleets: readonly EtcdFleet[]): boolean {
  return !fleets.some((fleet) => recordName(fleet.metadata.uid ?? '') === metadata.name);
}

/** Undefined where nothing is pending, or the fleet names no forge. */
export function pendingRecord(
  fleet: EtcdFleet,
  pending: readonly PendingStatus[],
  home: string,
): ConfigMap | undefined {
  const { metadata, spec } = fleet;
  const { namespace = '', name, uid } = metadata;
  if (!spec.forge || !uid || pending.length === 0) return undefined;
  const { type, apiURL, secretName } = spec.forge;
  const record: PendingRecord = {
    fleet: { namespace, name, uid },
    url: spec.git.url,
    forge: { type, ...(apiURL && { apiURL }), secretName },
    root: statusContext(fleet),
    statuses: pending,
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: recordName(uid),
      namespace: home,
      labels: { [labels.managedBy]: 'etcd-ratchet', [labels.pendingStatuses]: namespace },
    },
    data: { [recordKeys.record]: JSON.stringify(record) },
  };
}
