import { EtcdError } from '../../etcd.ts';
import type { ActionOf } from '../actions.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import type { ActContext } from './context.ts';

/** How long it is waited for that what was forgotten has left the database; etcd goes on by itself. Milliseconds. */
const timeoutMs = 10_000;

/** Forgets what keys were before a revision, if etcd is still out of space. */
export async function compact(
  { clusterId, revision }: ActionOf<'compact'>,
  { etcd: way, signal }: ActContext,
): Promise<void> {
  await withEtcd(way, async (etcd, endpoints) => {
    const alarms = await etcd.alarms(endpoints, { signal, clusterId });
    if (!alarms.some(({ alarm }) => alarm === 'NOSPACE')) throw moved('etcd is no longer out of space');
    try {
      await etcd.compact(endpoints, BigInt(revision), { signal, clusterId, timeoutMs });
    } catch (error) {
      // Whoever was at it before us got through.
      if (!(error instanceof EtcdError) || error.reason !== 'Compacted') throw error;
    }
  });
}
