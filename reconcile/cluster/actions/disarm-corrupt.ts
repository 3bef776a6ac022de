import type { ActionOf } from '../actions.ts';
import { settledList, withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { requireOneHash } from '../same-data.ts';
import { votersOf } from '../voters.ts';
import type { ActContext } from './context.ts';

/**
 * Takes CORRUPT back, whomever it blames, and looks whether it stays away. Read again just before: every voter of the list holds the
 * same at one revision. etcd itself does not look, and lets clients read and write again.
 */
export async function disarmCorrupt(
  { clusterId, revision }: ActionOf<'disarm-corrupt'>,
  { etcd: way, signal }: ActContext,
): Promise<void> {
  await withEtcd(way, async (etcd, endpoints) => {
    const list = await settledList(etcd, endpoints, { clusterId, signal });
    const memberIds = votersOf(list.members).map(({ id }) => id);
    await requireOneHash(etcd, endpoints, { clusterId, memberIds, revision: BigInt(revision), signal });
    for (const alarm of await etcd.alarms(endpoints, { signal, clusterId })) {
      if (alarm.alarm === 'CORRUPT') await etcd.disarm(endpoints, alarm, { signal, clusterId });
    }
    const left = await etcd.alarms(endpoints, { signal, clusterId });
    if (left.some(({ alarm }) => alarm === 'CORRUPT')) throw moved('the alarm was raised again at once');
  });
}
