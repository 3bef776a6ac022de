import { kinds } from '../../reconcile/kinds.ts';
import type { KindContext } from '../../reconcile/stepping/kind.ts';
import { listsOf } from '../../reconcile/stepping/run.ts';

/** What a pass about everything gives to the steps of each kind, where no member of any cluster runs. */
export function kindContext(given: Partial<KindContext> & Pick<KindContext, 'kube'>): KindContext {
  const signal = AbortSignal.timeout(60_000);
  const log = () => undefined;
  return {
    lists: listsOf(kinds, { signal, log, ...given }),
    signal,
    log,
    clusters: [],
    fleets: [],
    chosen: (clusters) => clusters,
    waitMs: 0,
    dryRun: false,
    etcd: async () => {
      throw new Error('no member runs here');
    },
    wire: async () => undefined,
    holder: { pod: '', uid: '' },
    nonce: () => 'n'.repeat(32),
    ...given,
  };
}
