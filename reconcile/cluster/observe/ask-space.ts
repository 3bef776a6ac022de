import { EtcdError } from '../../interfaces/etcd.ts';
import { type EtcdWay, withEtcd } from '../etcd-way.ts';
import type { Observation } from '../know/observation.ts';
import { isOutOfSpace, newestOf } from '../know/space/databases.ts';
import type { EtcdAnswers } from './ask-etcd.ts';

/** Asked only while a member's status says that etcd is out of space: what is at rest costs no request more. */
export async function askSpace(
  way: EtcdWay,
  { slots, membership }: EtcdAnswers,
  signal: AbortSignal,
): Promise<Pick<Observation, 'hasHistory'>> {
  if (membership.kind === 'unknown' || !isOutOfSpace(slots)) return {};
  const { clusterId } = membership;
  const newest = newestOf(slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status] : [])));
  try {
    return {
      hasHistory: await withEtcd(way, (etcd, endpoints) => etcd.hasHistory(endpoints, newest, { signal, clusterId })),
    };
  } catch (error) {
    if (error instanceof EtcdError) return {};
    throw error;
  }
}
