import { type CheckReport, checkKeys, checkName } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isRecord } from '../../manifests/json.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { type ShownPlans, shownBy } from '../../reconcile/fleet/shown.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../../reconcile/stepping/traced.ts';
import { isOf } from './keep-report.ts';

/** Each is read whole, up to a MiB. Of more requests the newest count. */
const most = 8;

/**
 * What plans of requests showed that were open at the last look: one of them may be what is applied now. Never throws
 * for the API server: what can't be read was not shown.
 */
export async function readShown(
  kube: Kube,
  fleet: EtcdFleet,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<ShownPlans> {
  const { namespace, name } = fleet.metadata;
  const shown = (fleet.status?.checks ?? []).filter(({ state }) => state === 'success').slice(-most);
  const reports = await Promise.all(
    shown.map(async ({ head }): Promise<readonly CheckReport[]> => {
      try {
        const kept = await kube.get<ConfigMap>(resources.configMaps, namespace, checkName(name, head), { signal });
        const report = kept && isOf(kept, fleet) ? parsed(kept.data?.[checkKeys.json]) : undefined;
        return report?.state === 'success' && report.head === head ? [report] : [];
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        log({ fleet: keyOf(fleet), head, problem: error.message }, 'what a plan showed could not be read');
        return [];
      }
    }),
  );
  return shownBy(reports.flat());
}

function areNamed(list: unknown): boolean {
  return Array.isArray(list) && list.every(isNamed);
}

function isNamed(one: unknown): boolean {
  if (!isRecord(one) || typeof one.namespace !== 'string' || typeof one.name !== 'string') return false;
  return one.planned === undefined || isRecord(one.planned);
}

/** Written by `keepReport`; who may write ConfigMaps there may have changed it. */
function parsed(text: string | undefined): CheckReport | undefined {
  try {
    const report: unknown = JSON.parse(text ?? 'null');
    if (!isRecord(report) || !isRecord(report.request) || typeof report.request.number !== 'string') return undefined;
    return [report.clusters, report.deletions].every(areNamed) ? (report as unknown as CheckReport) : undefined;
  } catch {
    return undefined;
  }
}
