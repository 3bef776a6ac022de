import type { EndpointStatus, ListedMember } from '../../../interfaces/etcd.ts';
import { recordOf } from '../../know/life.ts';
import type { Endpoint, Slot } from '../../know/observation.ts';
import { silenced, templateOf } from '../knowledge.ts';

/** What a member that has a quorum goes by. */
export interface Quorum {
  readonly clusterId: string;
  readonly leader: string;
  readonly index: bigint;
  readonly data: EndpointStatus | undefined;
}

/** Is Ready, unless it is a learner, which never is; and answers, unless the TLS handshake fails. */
export function serves(slot: Slot, { id, isLearner }: ListedMember, quorum: Quorum): Slot {
  const { pod, endpoint } = slot;
  if (!pod) return slot;
  const answers =
    endpoint.kind === 'unknown' && endpoint.tls !== undefined ? endpoint : answer(slot, id, isLearner, quorum);
  const ready = !isLearner;
  if (answers === endpoint && pod.ready === ready) return slot;
  return { ...slot, endpoint: answers, pod: pod.ready === ready ? pod : { ...pod, ready } };
}

function answer(slot: Slot, memberId: string, isLearner: boolean, quorum: Quorum): Endpoint {
  const { clusterId, leader, index, data } = quorum;
  const before = slot.endpoint.kind === 'known' ? slot.endpoint.status : undefined;
  const version = slot.pod?.version ?? templateOf(slot)?.version ?? recordOf(slot)?.version ?? '0.0.0';
  const status: EndpointStatus = {
    ...(before ?? data ?? fresh),
    memberId,
    clusterId,
    leader,
    version,
    isLearner,
    raftIndex: index,
    raftAppliedIndex: index,
  };
  const isSame =
    before !== undefined &&
    (Object.keys(status) as (keyof EndpointStatus)[]).every((key) => status[key] === before[key]);
  return isSame ? slot.endpoint : { kind: 'known', status };
}

const fresh = { raftTerm: 2n, revision: 1n, dbSize: 20480n, dbSizeInUse: 16384n, errors: [] as readonly string[] };

/** It answers for itself, and knows no leader. */
export function leaderless(slot: Slot): Slot {
  const { pod, endpoint } = slot;
  const isTold = endpoint.kind === 'unknown' || endpoint.status.leader === '0';
  if (isTold && !pod?.ready) return slot;
  return {
    ...slot,
    ...(endpoint.kind === 'known' && { endpoint: { kind: 'known', status: { ...endpoint.status, leader: '0' } } }),
    ...(pod?.ready && { pod: { ...pod, ready: false } }),
  };
}

/** It does not answer. */
export function falls(slot: Slot): Slot {
  const { pod, endpoint } = slot;
  const isSilent = endpoint.kind === 'unknown' && !endpoint.metrics;
  if (isSilent && !pod?.ready) return slot;
  return {
    ...slot,
    endpoint: isSilent ? endpoint : silenced(endpoint, 'it does not answer any more'),
    ...(pod?.ready && { pod: { ...pod, ready: false } }),
  };
}
