import type { VolumeState } from '../api/etcd-peer.ts';
import { formatInitialCluster } from './initial-cluster.ts';
import type { VolumeRecord } from './volume-record.ts';

export interface BootstrapVariables {
  readonly ETCD_INITIAL_CLUSTER: string;
  readonly ETCD_INITIAL_CLUSTER_STATE: 'new' | 'existing';
}

/**
 * The seal: a member list that names no member of ours. etcd ignores it while it has data. On an empty directory it
 * exits, because its own name is missing: a voter whose disk came back empty would forget acknowledged writes.
 * `.invalid` is reserved (RFC 2606), and our names end in an ordinal, so none is `sealed`.
 */
export function sealedInitialCluster(): string {
  return 'sealed=http://sealed.invalid:2380';
}

/** The variables of a member's first start, by its volume; sealed for every state but the two that precede a start. */
export function bootstrapVariables(
  record: Pick<VolumeRecord, 'state' | 'initialCluster'>,
  memberName: string,
): BootstrapVariables {
  const initialClusterState = firstStart(record.state);
  // A recorded list without this member would make etcd exit anyhow; the seal at least says why.
  const named = record.initialCluster.some(({ name }) => name === memberName);
  if (!initialClusterState || !named) {
    return { ETCD_INITIAL_CLUSTER: sealedInitialCluster(), ETCD_INITIAL_CLUSTER_STATE: 'existing' };
  }
  return {
    ETCD_INITIAL_CLUSTER: formatInitialCluster(record.initialCluster),
    ETCD_INITIAL_CLUSTER_STATE: initialClusterState,
  };
}

/** Whether a member on such a volume must never start on an empty directory. */
export function isSealed(state: VolumeState): boolean {
  return firstStart(state) === undefined;
}

/** As what a member may start on an empty directory, if it may. */
function firstStart(state: VolumeState): 'new' | 'existing' | undefined {
  switch (state) {
    case 'bootstrapping':
      return 'new';
    case 'joining':
      return 'existing';
    case 'sealed':
    case 'hibernating':
    case 'releasing':
    case 'released':
    case 'recovering':
    case 'recovered':
    case 'restoring':
    case 'restored':
    case 'superseded':
      return undefined;
    default:
      return state satisfies never;
  }
}
