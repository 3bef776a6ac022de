import { KubeError } from '../../reconcile/interfaces/kube.ts';
import { askedAlone } from '../../reconcile/objects/asked-alone.ts';
import { pass } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import type { Care } from './silent-ends.ts';
import { tellHourly } from './tell-hourly.ts';

/**
 * Steps the clusters during whose questions invocations have ended without a word: each alone, when all else is done
 * and told. What ends this process here costs no other cluster its step. Never throws for what the API server says.
 */
export async function askAlone({ suspects, asking, clear, forget }: Care, context: PassContext): Promise<void> {
  const { signal, log } = context;
  let isOfOthers = false;
  for (const suspect of suspects) {
    if (signal.aborted) return;
    const [namespace = '', name = ''] = suspect.split('/');
    await tellHourly(context, 'asked-alone', { about: { metadata: { namespace, name } }, news: askedAlone });
    try {
      const { clusters } = await pass({ ...context, clusters: [{ namespace, name }], asking });
      // Another shard's, or gone: the record stays for who steps it.
      if (context.shard && clusters.length === 0) {
        isOfOthers = true;
        continue;
      }
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      log({ cluster: suspect, problem: error.message }, 'it could not be asked alone: a later pass does');
      return;
    }
    await clear(suspect);
  }
  if (!isOfOthers) await forget();
}
