import { kinds, type Results } from '../../reconcile/kinds.ts';
import type { Kinds } from '../../reconcile/stepping/kind.ts';
import { type Stepped, stepKinds } from '../../reconcile/stepping/run.ts';
import { afterReports } from './after-reports.ts';
import type { FleetResult } from './fleet-pass.ts';
import type { PassContext, PassNews, PassResult } from './pass-context.ts';
import { type FleetsRead, hasWritten, readFleets } from './read-fleets.ts';
import { reportFleets } from './report-fleets.ts';

/**
 * One pass: what Git says is applied, every object of every kind gets one step, the fleets and forges are told.
 * @throws {KubeError} when fleets, clusters or what they consist of can't be listed: then no pass was made
 */
export async function pass(context: PassContext, table: Kinds = kinds): Promise<PassResult> {
  using read = await readFleets(context, table);
  const stepped = await stepKinds(table, read.stepping);
  const { cluster = [] } = stepped.results as Results;
  const told = reportFleets(read, cluster);
  const goneOn = Promise.all(told).then(async (all) => {
    const news = newsOf(
      read,
      stepped,
      all.map(({ passed }) => passed.result),
    );
    await context.onNews?.(news);
    return news;
  });
  const [news, fleets] = await Promise.all([goneOn, afterReports(read, told)]);
  return { fleets, ...news };
}

function newsOf({ isLate, context }: FleetsRead, stepped: Stepped<Kinds>, fleets: readonly FleetResult[]): PassNews {
  const needRetry = fleets.some((one) => one.kind === 'done' && one.outcome.retries.length > 0);
  const results = stepped.results as Results;
  const { cluster: clusters = [] } = results;
  const workRemains = stepped.workRemains || needRetry || fleets.some(isLate);
  const moved = stepped.moved || fleets.some(hasWritten);
  const leftOut = context.kube.leftOut();
  return { ...stepped, results, clusters, workRemains, moved, leftOut, unsettled: stepped.unsettled || needRetry };
}
