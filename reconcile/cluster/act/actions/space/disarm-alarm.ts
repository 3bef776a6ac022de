import type { Alarm } from '../../../../interfaces/etcd-admin.ts';
import type { Program } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { askSizes, disarm, listAlarms } from '../../requests/space.ts';
import { defineAction } from '../define.ts';

/**
 * Disarms NOSPACE, for every member, and checks that it stays disarmed. Read again just before: etcd itself does not
 * check whether the cause is gone, and writes beyond the quota fill the disk.
 */
export const disarmAlarm = defineAction('disarm-alarm', {
  target: () => undefined,
  *run({ clusterId, limits }) {
    const databases = yield* askSizes({});
    for (const { memberId, bytes } of limits) {
      const found = databases.find((one) => one.memberId === memberId && one.clusterId === clusterId);
      if (!found) throw moved(`member ${memberId} does not answer any more, so the alarm stays`);
      if (found.size >= bytes) throw moved(`the database of member ${memberId} has grown, so the alarm stays`);
    }
    yield* disarmAll(clusterId, 'NOSPACE');
  },
});

/** @throws {StepError} when it is raised again at once. */
export function* disarmAll(clusterId: string, kind: Alarm['alarm']): Program {
  for (const alarm of yield* listAlarms({ clusterId })) {
    if (alarm.alarm === kind) yield* disarm({ clusterId, alarm });
  }
  const left = yield* listAlarms({ clusterId });
  if (left.some(({ alarm }) => alarm === kind)) throw moved('the alarm was raised again at once');
}
