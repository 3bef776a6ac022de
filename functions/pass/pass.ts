import { kinds, type Results } from '../../reconcile/kinds.ts';
import type { Kinds } from '../../reconcile/stepping/kind.ts';
import { type Stepped, stepKinds } from '../../reconcile/stepping/run.ts';
import { afterReports } from './after-reports.ts';
import type { FleetResult } from './fleet-pass.ts';
import type { PassContext, PassNews, PassResult } from './pass-context.ts';
import { type FleetsRead, hasWritten, readFleets } from './read-fleets.ts';
import { reportFleets } from './report-fleets.ts';
import { tellEarly } from './tell-early.ts';

/**
 * One pass: what Git says is applied, every object of every kind gets one step, the fleets and forges are told.
 * @throws {KubeError} when fleets, clusters or what they consist of can't be listed: then no pass was made
 */
export async function pass(context: PassContext, table: Kinds = kinds): Promise<PassResult> {
  using read = await readFleets(context, table);
  const stepped = await stepKinds(table, read.stepping);
  const { cluster = [] } = stepped.results as Results;
  const told = reportFleets(read, cluster);
  const all = Promise.all(told);
  const goneOn = tellEarly(context, stepped, all).then(async (isTold) => {
    const fleets = (await all).map(({ passed }) => passed.result);
    const news = newsOf(read, isTold ? { ...stepped, isTold, moved: false } : stepped, fleets);
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
  // What was applied before the steps is known to what goes on with what was told early.
  const moved = stepped.moved || fleets.some(stepped.isTold ? isLate : hasWritten);
  const leftOut = context.kube.leftOut();
  return { ...stepped, results, clusters, workRemains, moved, leftOut, unsettled: stepped.unsettled || needRetry };
}
