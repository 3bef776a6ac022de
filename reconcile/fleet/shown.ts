import { createHash } from 'node:crypto';
import type { CheckReport } from '../../manifests/api/check-report.ts';
import { isRecord } from '../../manifests/json.ts';
import { canonicalJson } from '../../manifests/render/canonical-json.ts';
import { formatShown, parseShown, type Shown } from '../cluster/know/plan/costs.ts';
import type { DesiredSpec } from './reading.ts';

/** What plans of open requests showed: of a spec wherever its commit is, because a squash has another SHA. */
export interface ShownPlans {
  /** By `<namespace>/<name>` of a cluster and {@link asksOf} its document. */
  readonly costs: ReadonlyMap<string, Shown>;
  /** Clusters whose deletion was shown, by `<namespace>/<name>`: whether their data go was said. */
  readonly deletions: ReadonlyMap<string, { readonly request: string; readonly dataGo: boolean }>;
}

export function asksOf({ object }: Pick<DesiredSpec, 'object'>): string {
  return createHash('sha256').update(canonicalJson(object.spec)).digest('hex').slice(0, 16);
}

/** Of two requests that ask for the same, the one that showed less counts. */
export function shownBy(reports: readonly CheckReport[]): ShownPlans {
  const costs = new Map<string, Shown>();
  const deletions = new Map<string, { readonly request: string; readonly dataGo: boolean }>();
  for (const { request, clusters, deletions: gone } of reports) {
    if (!request) continue;
    for (const { namespace, name, asks, planned } of clusters) {
      const cost = asks === undefined ? undefined : told(request.number, planned?.costs);
      if (!cost) continue;
      const key = `${namespace}/${name} ${asks}`;
      const before = costs.get(key);
      if (before && before.restarts + before.removals <= cost.restarts + cost.removals) continue;
      costs.set(key, cost);
    }
    for (const { namespace, name, kept, dataGo = false } of gone) {
      const key = `${namespace}/${name}`;
      if (kept !== undefined || deletions.get(key)?.dataGo === false) continue;
      deletions.set(key, { request: request.number, dataGo });
    }
  }
  return { costs, deletions };
}

/** Only what an annotation can say: another hand may have changed the report. */
function told(request: string, costs: unknown): Shown | undefined {
  if (!isRecord(costs)) return undefined;
  const { restarts, removals } = costs;
  return parseShown(formatShown(request, { restarts: Number(restarts), removals: Number(removals) }));
}
