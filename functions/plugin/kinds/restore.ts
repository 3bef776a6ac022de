import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';
import { restoreMeanings } from '../../../reconcile/restore/reasons.ts';
import { readyState } from '../../page/state.ts';
import { factsOf, meaningIn, pastOf, type ShownKind } from './shown.ts';

export const restoreShown: ShownKind<EtcdRestore> = {
  state: ({ status }) => readyState(status),
  meaningOf: meaningIn(restoreMeanings),
  facts: ({ spec, status }) =>
    factsOf(
      ['Cluster', spec.cluster.name],
      ['Backup', spec.backupName],
      ['Object', status?.object ?? spec.from?.object],
      ['Cluster ID', status?.clusterID],
    ),
  past: ({ metadata, spec, status }) =>
    pastOf(
      [metadata.creationTimestamp, 'asked for'],
      [status?.startedAt, 'cluster made', `EtcdCluster ${spec.cluster.name}`],
      [status?.finishedAt, 'finished'],
    ),
};
