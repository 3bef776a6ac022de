import type { Reach } from '../../../functions/plugin/command.ts';
import { type EndpointStatus, EtcdError, type ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import type { Source } from './sources.ts';

export const clusterID = 'cdf818194e3a8c32';

/** What the members of a source answer from this machine. */
export interface Answering {
  /** Of all, or of one by its number. */
  readonly status?: (n: number) => Partial<EndpointStatus>;
  readonly learner?: number;
  /** By number: none listens there. */
  readonly silent?: readonly number[];
  readonly wantsUser?: boolean;
  /** What those that are silent fail with. */
  readonly cause?: string;
  /** So many of them are on the list. */
  readonly size?: number;
}

export function idOf(n: number): string {
  return `ed${n}`;
}

export function reaching({ pods, peerUrlOf }: Source, answering: Answering = {}): Reach {
  const {
    status = () => ({}),
    learner,
    silent = [],
    wantsUser = false,
    cause = 'connection refused',
    size = pods.length,
  } = answering;
  const numberOf = (endpoint: string) => pods.findIndex((pod) => endpoint.includes(`//${pod.status?.podIP}:2379`));
  const members = pods.slice(0, size).map(
    ({ metadata: { name } }, n): ListedMember => ({
      id: idOf(n),
      name,
      peerURLs: [peerUrlOf(name)],
      clientURLs: [],
      isLearner: n === learner,
    }),
  );
  const refuse = (endpoint: string) => {
    const n = numberOf(endpoint);
    if (wantsUser) throw new EtcdError('user name is empty', 'refused', undefined, undefined, 'UserNeeded');
    if (n < 0 || n >= size || silent.includes(n)) throw new EtcdError(`${endpoint}: ${cause}`, 'down');
    return n;
  };
  const any = (endpoints: readonly string[]) => {
    const [first = ''] = endpoints.filter((one) => numberOf(one) >= 0 && !silent.includes(numberOf(one)));
    refuse(first);
    return { clusterId: clusterID, members };
  };
  const etcd: Partial<EtcdAdmin> = {
    members: async (endpoints) => any(endpoints),
    lastMembers: async (endpoints) => any(endpoints),
    status: async (endpoint) => {
      const n = refuse(endpoint);
      return {
        memberId: idOf(n),
        clusterId: clusterID,
        leader: idOf(0),
        version: '3.6.16',
        isLearner: n === learner,
        ...{ raftIndex: 1000n, raftAppliedIndex: 1000n, raftTerm: 2n, revision: 900n },
        ...{ dbSize: 20_480n, dbSizeInUse: 20_480n, errors: [] },
        ...status(n),
      };
    },
    version: async () => ({ server: '3.6.16', cluster: '3.6.0' }),
    metrics: async (endpoint) => {
      throw new EtcdError(`${endpoint}: ${cause}`, 'down');
    },
    counters: async (endpoint) => {
      throw new EtcdError(`${endpoint}: ${cause}`, 'down');
    },
    alarms: async () => [],
    close: () => undefined,
  };
  return { etcd: async () => etcd as EtcdAdmin, wire: async () => undefined };
}
