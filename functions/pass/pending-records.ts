import { isDeepStrictEqual } from 'node:util';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { labels } from '../../manifests/render/names.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import {
  isOrphan,
  maxOrphansPerNamespace,
  type PendingStatus,
  pendingOf,
  pendingRecord,
  pendingRecords,
  recordName,
} from '../../reconcile/fleet/pending-record.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Lister, Lists } from '../../reconcile/stepping/lists.ts';
import type { Log } from '../log.ts';
import type { PassContext } from './pass-context.ts';

/** The records of fleets whose commit statuses are pending. */
export interface Records {
  readonly home: string;
  /** Those of the installation's namespace only. @throws {KubeError} */
  readonly list: () => Promise<readonly ConfigMap[]>;
  /** Those that full looks at clusters have listed in this pass; where none is looked at, all. @throws {KubeError} */
  readonly seen: () => Promise<readonly ConfigMap[]>;
}

/** None where the installation's namespace is unknown, or is not looked at. */
export function recordsFor({ kube, namespace, signal, home }: PassContext): {
  readonly home: string | undefined;
  readonly lister: Lister;
} {
  const isSeen = namespace === undefined || namespace === home;
  const list = () =>
    kube.list<ConfigMap>(resources.configMaps, { namespace: home, labelSelector: labels.pendingStatuses, signal });
  return { home: isSeen ? home : undefined, lister: list };
}

/** @param areListed whether full looks at clusters list them in this pass */
export function recordsFrom(home: string, lists: Lists, areListed: boolean): Records {
  const isHere = ({ metadata }: ConfigMap) => metadata.namespace === home;
  const list = async () => (await lists.of<ConfigMap>(pendingRecords)).items.filter(isHere);
  const known = async () => lists.known<ConfigMap>(pendingRecords).filter(isHere);
  return { home, list, seen: areListed ? known : list };
}

interface KeepContext {
  readonly kube: Kube;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly fleets: readonly EtcdFleet[];
  readonly records: Records;
}

/**
 * Keeps on record what the forge shows as pending, and nothing once nothing is: before statuses are sent, and after.
 * Never throws for what the API server says: without a record, the statuses of a deleted fleet stay pending.
 *
 * @param found what was kept before; absent: looked up
 * @returns what is kept now
 */
export async function keepPending(
  fleet: EtcdFleet,
  pending: readonly PendingStatus[],
  context: KeepContext,
  found?: Kept,
): Promise<Kept> {
  const { kube, log, signal, records } = context;
  const wanted = pendingRecord(fleet, pending, records.home);
  try {
    // Where nothing was or is pending, a record is left only by an invocation that died.
    const isKept = wanted !== undefined || pendingOf(fleet.status?.commitStatuses ?? []).length > 0;
    const { record } = found ?? kept(fleet, await (isKept ? records.list() : records.seen()));
    if (!wanted) {
      if (record) await remove(kube, record, signal);
      return {};
    }
    if (record && isDeepStrictEqual(record.data, wanted.data)) return { record };
    if (record) {
      const { metadata } = record;
      return { record: await kube.update<ConfigMap>(resources.configMaps, { ...wanted, metadata }, { signal }) };
    }
    if (await isCrowded(fleet, context)) {
      log(
        { fleet: keyOf(fleet) },
        'too many deleted fleets of this namespace still have pending statuses: none is kept',
      );
      return {};
    }
    return { record: await kube.create<ConfigMap>(resources.configMaps, wanted, { signal }) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // Another invocation keeps the same, now.
    if (!['AlreadyExists', 'Conflict'].includes(error.reason))
      log({ fleet: keyOf(fleet), problem: error.message }, 'pending statuses were not kept on record');
    return found ?? {};
  }
}

export interface Kept {
  readonly record?: ConfigMap;
}

/** @throws {KubeError} */
export async function remove(kube: Kube, { metadata }: ConfigMap, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = metadata;
  if (uid === undefined) return;
  await kube.delete(resources.configMaps, namespace, name, { preconditions: { uid }, signal });
}

function kept({ metadata }: EtcdFleet, records: readonly ConfigMap[]): Kept {
  const name = recordName(metadata.uid ?? '');
  const record = records.find((one) => one.metadata.name === name);
  return record ? { record } : {};
}

async function isCrowded({ metadata }: EtcdFleet, { records, fleets }: KeepContext): Promise<boolean> {
  const ofNamespace = (await records.list()).filter(
    (one) => one.metadata.labels?.[labels.pendingStatuses] === metadata.namespace && isOrphan(one, fleets),
  );
  return ofNamespace.length >= maxOrphansPerNamespace;
}
