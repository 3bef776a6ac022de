import { kinds } from '../../../reconcile/kinds.ts';
import { isAboutAll, isAwaited, isNews, type Kinds } from '../../../reconcile/stepping/kind.ts';
import type { StepResult } from '../../../reconcile/stepping/result.ts';
import type { Identity } from '../../environment.ts';
import type { TickOptions } from '../../tick/options.ts';
import type { PassNews } from '../pass-context.ts';
import type { GoingOn } from './go-on.ts';

type Leaving = Pick<TickOptions, 'dryRun' | 'followUp' | 'clusters' | 'fleet' | 'goOn'>;
/** Of a pass, or of what it has done so far. */
type Left = Pick<PassNews, 'workRemains' | 'moved' | 'unsettled' | 'nextLook'> & {
  readonly results: Readonly<Record<string, readonly StepResult[] | undefined>>;
};
type Reaching = Pick<GoingOn, 'kube' | 'env' | 'log' | 'shard' | 'signal'> & { readonly cronJob: Identity['cronJob'] };

/**
 * Leaves the remaining work to a follow-up; where only time brings news, to the next tick, or to a Job that waits for a
 * time before it. Returns `false` if a follow-up was needed and could not be made.
 */
export async function leaveWork(
  news: Left,
  leaving: Leaving,
  { cronJob, ...reaching }: Reaching,
  table: Kinds = kinds,
): Promise<boolean> {
  const { dryRun, followUp, clusters, fleet, goOn: mayGoOn } = leaving;
  if (dryRun || !cronJob) return true;
  // Started by hand for some objects only: going on is the CronJob's business.
  if (!mayGoOn && !isAboutAll({ clusters, fleet })) return true;
  const isNew = isNews(news, followUp !== undefined);
  if (news.workRemains && (isNew || isAwaited(table, news.results, reaching.kube.now() ?? new Date()))) {
    const { chain, number } = followUp ?? {};
    const link = chain !== undefined && number !== undefined ? { chain, number } : undefined;
    const { goOn } = await import('./go-on.ts');
    return goOn(
      { clusters: news.results.cluster ?? [] },
      { ...reaching, cronJob, link, isNew, until: reaching.signal },
    );
  }
  if (news.workRemains)
    reaching.log({ outcome: 'none' }, 'nothing has changed for long: no follow-up, the next tick looks again');
  if (news.nextLook) {
    const { leaveTimer } = await import('./timer.ts');
    await leaveTimer(news.nextLook, { ...reaching, cronJob });
  }
  return true;
}
