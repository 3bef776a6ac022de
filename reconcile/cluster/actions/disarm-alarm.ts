import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import type { ActContext } from './context.ts';

/**
 * Takes NOSPACE back, whoever raised it, and looks whether it stays away. Read again just before: etcd itself does not look whether
 * the cause is gone, and what is written beyond the quota fills the disk.
 */
export async function disarmAlarm(
  { clusterId, limits }: ActionOf<'disarm-alarm'>,
  { etcd: way, signal }: ActContext,
): Promise<void> {
  await withEtcd(way, async (etcd, endpoints) => {
    const statuses = await Promise.all(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
    for (const { memberId, bytes } of limits) {
      const found = statuses.find((status) => status.memberId === memberId && status.clusterId === clusterId);
      if (!found) throw moved(`member ${memberId} does not answer any more, so the alarm stays`);
      if (found.dbSize >= bytes) throw moved(`the database of member ${memberId} has grown, so the alarm stays`);
    }
    for (const alarm of await etcd.alarms(endpoints, { signal, clusterId })) {
      if (alarm.alarm === 'NOSPACE') await etcd.disarm(endpoints, alarm, { signal, clusterId });
    }
    const left = await etcd.alarms(endpoints, { signal, clusterId });
    if (left.some(({ alarm }) => alarm === 'NOSPACE')) throw moved('the alarm was raised again at once');
  });
}
