import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { backupMeanings } from '../../../reconcile/backup/reasons.ts';
import { readyState } from '../../page/state.ts';
import { since, sizeOf } from '../words.ts';
import { factsOf, meaningIn, pastOf, type ShownKind } from './shown.ts';

export const backupShown: ShownKind<EtcdBackup> = {
  state: ({ status }) => readyState(status),
  meaningOf: meaningIn(backupMeanings),
  facts({ spec, status }, now) {
    const { attempt, lastFailure, object, bytes, revision } = status ?? {};
    return factsOf(
      ['Cluster', spec.clusterName],
      [
        'Attempt',
        attempt && `${attempt.number}, ${attempt.stage} by Job ${attempt.job} for ${since(attempt.startedAt, now)}`,
      ],
      ['Failed', lastFailure && `${lastFailure.reason}: ${lastFailure.message}`],
      ['Again', lastFailure?.retryAt && `at ${lastFailure.retryAt}`],
      ['Object', object],
      ['Size', bytes === undefined ? undefined : sizeOf(bytes)],
      ['Revision', revision === undefined ? undefined : String(revision)],
    );
  },
  past({ metadata, status }) {
    const { attempt, lastFailure, takenAt, object, verified, finishedAt } = status ?? {};
    return [
      ...pastOf(
        [metadata.creationTimestamp, 'asked for'],
        [attempt?.startedAt, `begun: ${attempt?.stage}, attempt ${attempt?.number}`, attempt?.job],
        [takenAt, 'taken', object],
        [verified?.at, 'verified', verified && `restored and compared in ${verified.took}`],
        [finishedAt, 'finished'],
      ),
      ...(lastFailure ? [failed(lastFailure)] : []),
    ];
  },
};

function failed({ at, reason, message }: { readonly at: string; readonly reason: string; readonly message: string }) {
  return { at, what: 'attempt', outcome: 'failed', tone: 'bad', reason, message } as const;
}
