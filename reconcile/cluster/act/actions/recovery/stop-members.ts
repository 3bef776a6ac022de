import { mayTakeOver, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { each, together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { askQuorum, seeWhereTheyRun } from '../../requests/before-recovery.ts';
import { deletePodOf, deleteStatefulSet } from '../../requests/removing.ts';
import { liveVolume, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';
import { bothOf } from './also-seen.ts';

/**
 * All members stop. Before that it is recorded where they run: later, a pod that kubelet ended looks the same as a pod
 * that was deleted by force.
 *
 * Asked again just before the first is stopped: no quorum answers. Members that were given up may have returned, and
 * accept writes; then a person decides between the two. A rollback gives up what serves, and asks nothing.
 */
export const stopMembers = defineAction('stop-members', {
  target: ({ statefulSets, pods }) => namesOf([...statefulSets, ...pods]),
  *run({ volume, statefulSets, pods }) {
    const { record, readAt } = yield* liveVolume(volume.name);
    const { recovery, state } = record;
    if (!(isOnItsWay.has(state) || mayTakeOver(record)) || !recovery) throw moved(`volume ${volume.name} is ${state}`);
    const isFirst = state === 'recovering' && recovery.attempt === 0;
    if (isFirst && statefulSets.some(({ name }) => name === volume.name) && (yield* askQuorum({})))
      throw moved('a quorum answers again');
    const elsewhere = yield* seeWhereTheyRun({ known: recovery.lastSeenOn });
    if (Object.keys(elsewhere).length > 0) {
      const lastSeenOn = bothOf(recovery.lastSeenOn, elsewhere);
      yield* writeRecord({ readAt, record: { ...record, recovery: { ...recovery, lastSeenOn } } });
    }
    yield* together({ statefulSets: each(statefulSets, deleteStatefulSet), pods: each(pods, deletePodOf) });
  },
});

const isOnItsWay: ReadonlySet<VolumeRecord['state']> = new Set(['recovering', 'recovered']);
