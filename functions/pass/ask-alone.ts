import { askedAlone } from '../../reconcile/objects/asked-alone.ts';
import { pass } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import type { Care } from './silent-ends.ts';
import { tellHourly } from './tell-hourly.ts';

/**
 * Steps the clusters during whose questions invocations have ended without a word: each alone, when all else is done
 * and told. What ends this process here costs no other cluster its step.
 * @throws {KubeError} when fleets and clusters can't be listed
 */
export async function askAlone({ suspects, asking, clear, forget }: Care, context: PassContext): Promise<void> {
  const { signal } = context;
  for (const suspect of suspects) {
    if (signal.aborted) return;
    const [namespace = '', name = ''] = suspect.split('/');
    await tellHourly(context, 'asked-alone', { about: { metadata: { namespace, name } }, news: askedAlone });
    await pass({ ...context, clusters: [{ namespace, name }], care: Promise.resolve({ suspects: [], asking }) });
    clear(suspect);
  }
  await forget();
}
