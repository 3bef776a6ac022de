import {
  type CheckedCluster,
  type CheckReport,
  checkFleetLabel,
  checkKeys,
  checkLabel,
  checkName,
} from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { firstOf } from '../../reconcile/cluster/know/some-of.ts';
import { isReason, type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import { reportMarkdown } from './markdown.ts';

/** Bytes of one report in each of its two forms: the API server takes a MiB for a whole ConfigMap. */
const maxBytes = 400_000;

/** Keeps a report for the page until its request is closed. @throws {KubeError} `NameTaken` by a ConfigMap of others */
export async function keepReport(
  kube: Kube,
  fleet: EtcdFleet,
  report: CheckReport,
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = fleet;
  const namespace = metadata.namespace ?? '';
  const name = checkName(metadata.name, report.head);
  const short = shortened(report);
  const data = { [checkKeys.json]: JSON.stringify(short), [checkKeys.markdown]: reportMarkdown(short) };
  for (let attempt = 1; ; attempt++) {
    const live = await kube.get<ConfigMap>(resources.configMaps, namespace, name, { signal });
    if (live && !isOf(live, fleet)) throw taken(live);
    if (live?.data?.[checkKeys.json] === data[checkKeys.json]) return;
    try {
      if (live) await kube.update<ConfigMap>(resources.configMaps, { ...live, data }, { signal });
      else await kube.create<ConfigMap>(resources.configMaps, { ...identity(fleet, report, name), data }, { signal });
      return;
    } catch (error) {
      // Another invocation checked it as well.
      const isRace = isReason(error, 'Conflict') || isReason(error, 'AlreadyExists');
      if (!isRace || attempt === 3) throw error;
    }
  }
}

/** Removes what is kept of heads that are checked no more. @throws {KubeError} */
export async function forgetReports(
  kube: Kube,
  fleet: EtcdFleet,
  isOpen: (head: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = fleet.metadata;
  const { items } = await kube.list<ConfigMap>(resources.configMaps, {
    namespace,
    labelSelector: `${checkFleetLabel}=${name}`,
    signal,
  });
  for (const item of items) {
    const { metadata: kept } = item;
    // A label is no proof: anyone who may write ConfigMaps there can set it.
    if (!isOf(item, fleet)) continue;
    if (isOpen(kept.labels?.[checkLabel] ?? '') || !kept.uid) continue;
    try {
      await kube.delete(resources.configMaps, namespace, kept.name, { preconditions: { uid: kept.uid }, signal });
    } catch (error) {
      if (!isReason(error, 'Conflict')) throw error;
    }
  }
}

/** Of this very fleet: a label is no proof, and the name may be taken. */
export function isOf(
  { metadata: { ownerReferences = [] } }: ConfigMap,
  { metadata: { uid = '' } }: EtcdFleet,
): boolean {
  return ownerReferences.some((owner) => owner.uid === uid);
}

function taken({ metadata: { namespace, name } }: ConfigMap): KubeError {
  return new KubeError(
    `ConfigMap ${namespace}/${name} is not this fleet's and is left alone, so a report is not kept: delete it, or move what needs it to another name`,
    { class: 'terminal', reason: 'NameTaken' },
  );
}

function identity({ metadata }: EtcdFleet, { head }: CheckReport, name: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: metadata.namespace ?? '',
      labels: {
        'app.kubernetes.io/managed-by': 'etcd-ratchet',
        [checkLabel]: head,
        [checkFleetLabel]: metadata.name,
      },
      ownerReferences: [
        {
          apiVersion: 'etcd.ratchet.dev/v1alpha1',
          kind: 'EtcdFleet',
          name: metadata.name,
          uid: metadata.uid ?? '',
        },
      ],
    },
  };
}

const mostRights = 5;

type Planned = NonNullable<CheckedCluster['planned']>;

/** Small enough to be kept: the steps of the last clusters go first, then the clusters themselves. */
export function shortened(report: CheckReport): CheckReport {
  if (fits(report)) return report;
  for (let whole = report.clusters.length >> 1; whole >= 1; whole >>= 1) {
    const clusters = report.clusters.map((cluster, index) =>
      index < whole || !cluster.planned ? cluster : { ...cluster, planned: inShort(cluster.planned) },
    );
    const short = { ...report, clusters, shortened: true };
    if (fits(short)) return short;
  }
  const few = { ...report, shortened: true, clusters: [], inherited: [], warnings: [] };
  return fits(few)
    ? few
    : { ...few, problems: report.problems.slice(0, 20), deletions: report.deletions.slice(0, 100) };
}

/** Of the rights of users the first ones stay, and how many more there are. */
function inShort({ rights = [], ...planned }: Planned): Planned {
  const few = firstOf(rights, mostRights, (who) => ({ who }));
  return { ...planned, ...(few.length > 0 && { rights: few }), steps: [] };
}

function fits(report: CheckReport): boolean {
  return Buffer.byteLength(JSON.stringify(report)) <= maxBytes && Buffer.byteLength(reportMarkdown(report)) <= maxBytes;
}
