import type { MemberList } from '../interfaces/etcd.ts';
import type { EtcdAdmin } from '../interfaces/etcd-admin.ts';
import { moved } from './know/outcome.ts';
import { deadlineGuard } from './write-fence.ts';

/**
 * How a step reaches the members of its cluster: at the addresses, and with the certificate, that they were looked at
 * with.
 */
export interface EtcdWay {
  /** Of members whose container ran, by their names. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** For one action. Must be closed. @throws {StepError} when there is nothing to speak to them with. */
  connect(): Promise<EtcdAdmin>;
}

/**
 * The same members, closed to changes once the lease's deadline has passed: like `fenced`, for what etcd itself does
 * not fence. What was sent in time may still be carried out later.
 */
export function fencedEtcd(way: EtcdWay, signal: AbortSignal, deadline: number): EtcdWay {
  const guard = deadlineGuard(signal, deadline);
  return {
    endpoints: way.endpoints,
    connect: async () => {
      const etcd = await way.connect();
      return {
        ...etcd,
        addLearner: guard(etcd.addLearner),
        promote: guard(etcd.promote),
        remove: guard(etcd.remove),
        moveLeader: guard(etcd.moveLeader),
        defragment: guard(etcd.defragment),
        disarm: guard(etcd.disarm),
        compact: guard(etcd.compact),
        changeAuth: guard(etcd.changeAuth),
      };
    },
  };
}

/** Opens, uses and closes. @throws {StepError | EtcdError} */
export async function withEtcd<T>(
  way: EtcdWay,
  use: (etcd: EtcdAdmin, endpoints: readonly string[]) => Promise<T>,
): Promise<T> {
  const etcd = await way.connect();
  try {
    return await use(etcd, [...way.endpoints.values()]);
  } finally {
    etcd.close();
  }
}

/**
 * The member list just before it is changed, or something is done that rests on it: behind a barrier, and of the
 * cluster that is meant.
 *
 * @throws {StepError | EtcdError}
 */
export async function settledList(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  { clusterId, signal }: { readonly clusterId: string; readonly signal: AbortSignal },
): Promise<MemberList> {
  const list = await etcd.members(endpoints, { signal, barrier: true });
  if (list.clusterId !== clusterId) throw moved(`etcd cluster ${list.clusterId} answers, and not ${clusterId}`);
  return list;
}
