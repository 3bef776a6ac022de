import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { scheduleMeanings } from '../../../reconcile/schedule/reasons.ts';
import { scheduleState } from '../../page/state.ts';
import { since, until } from '../words.ts';
import { factsOf, meaningIn, pastOf, type ShownKind } from './shown.ts';

export const scheduleShown: ShownKind<EtcdBackupSchedule> = {
  state: scheduleState,
  meaningOf: meaningIn(scheduleMeanings),
  facts({ spec, status }, now) {
    const { nextAt, lastAt, lastName, lastGood, active = [], retention } = status ?? {};
    return factsOf(
      ['Cluster', spec.template.clusterName],
      ['Schedule', `${spec.schedule}${spec.timeZone ? `, ${spec.timeZone}` : ''}`],
      ['Next', nextAt && until(nextAt, now)],
      ['Under way', active.join(', ')],
      ['Last', lastAt && `${lastName ?? ''}, due ${since(lastAt, now)} ago`],
      ['Last good', lastGood && `${lastGood.name}, taken ${since(lastGood.takenAt, now)} ago`],
      ['Kept', retention?.kept === undefined ? undefined : String(retention.kept)],
      ['Retention', retention?.failure && `${retention.failure.reason}: ${retention.failure.message}`],
    );
  },
  past({ metadata, status }) {
    const { lastAt, lastName, lastGood, retention } = status ?? {};
    const gone = retention && `${retention.removed ?? 0} removed, ${retention.kept ?? 0} kept`;
    return pastOf(
      [metadata.creationTimestamp, 'made'],
      [lastAt, 'last backup due', lastName],
      [lastGood?.takenAt, 'last good backup', lastGood?.name],
      [retention?.finishedAt, 'retention', gone],
    );
  },
};
