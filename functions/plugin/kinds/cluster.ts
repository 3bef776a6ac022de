import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { meaningOf } from '../../../reconcile/reasons/reasons.ts';
import { clusterState } from '../../page/state.ts';
import { concernsOf } from '../words.ts';
import type { ShownKind } from './shown.ts';

export const clusterShown: ShownKind<EtcdCluster> = {
  state: clusterState,
  concerns: concernsOf,
  meaningOf,
  // `why` of a cluster tells more than facts: see why.ts.
  facts: () => [],
  past: ({ status }) =>
    (status?.history ?? []).map(({ at, action, target, outcome, reason, message }) => ({
      ...{ at, what: `${action} ${target ?? ''}`.trim(), outcome },
      ...{ tone: outcome === 'failed' ? 'bad' : 'good', reason, message },
    })),
};
