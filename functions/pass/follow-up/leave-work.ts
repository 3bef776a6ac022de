import type { Identity } from '../../environment.ts';
import type { TickOptions } from '../../tick/options.ts';
import { isAwaited, isNews } from '../next-look.ts';
import type { PassNews } from '../pass-context.ts';
import type { GoingOn } from './go-on.ts';

type Leaving = Pick<TickOptions, 'dryRun' | 'followUp' | 'clusters' | 'fleet' | 'goOn'>;
type Reaching = Pick<GoingOn, 'kube' | 'env' | 'log' | 'signal'> & { readonly cronJob: Identity['cronJob'] };

/**
 * Leaves what remains to a follow-up, whatever started this invocation; where only time would bring news, to the next
 * tick.
 */
export async function leaveWork(
  news: PassNews,
  { dryRun, followUp, clusters, fleet, goOn: mayGoOn }: Leaving,
  { cronJob, ...reaching }: Reaching,
): Promise<void> {
  if (dryRun || !cronJob || !news.workRemains) return;
  // Started by hand for some objects only: going on is the CronJob's business.
  if (!mayGoOn && (clusters.length > 0 || fleet)) return;
  const isNew = isNews(news, followUp !== undefined);
  if (!isNew && !isAwaited(news, reaching.kube.now() ?? new Date())) {
    reaching.log({ outcome: 'none' }, 'nothing has changed for long: no follow-up, the next tick looks again');
    return;
  }
  const { chain, number } = followUp ?? {};
  const link = chain !== undefined && number !== undefined ? { chain, number } : undefined;
  const { goOn } = await import('./go-on.ts');
  await goOn(news, { ...reaching, cronJob, link, isNew });
}
