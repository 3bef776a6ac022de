/** Translates etcd3's values: our IDs are hex, as etcd prints them; etcd3's are decimal strings. */

import type { IMemberListResponse, IResponseHeader, IStatusResponse } from 'etcd3';
import { type EndpointStatus, EtcdError, type MemberId, type MemberList } from '../interfaces/etcd.ts';

export function hex(id: string): MemberId {
  return BigInt(id).toString(16);
}

/** @throws {EtcdError} when it is no member ID: then nothing is asked. */
export function decimal(call: string, id: MemberId): string {
  if (!/^[0-9a-f]{1,16}$/.test(id))
    throw new EtcdError(`${call}: not sent: ${JSON.stringify(id)} is not a member ID (up to 16 hex digits)`, 'down');
  return BigInt(`0x${id}`).toString();
}

export function memberListOf({ header, members }: IMemberListResponse): MemberList {
  return {
    clusterId: clusterIdOf(header),
    members: members.map(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
      id: hex(ID),
      name,
      peerURLs,
      clientURLs,
      isLearner,
    })),
  };
}

export function statusOf(status: IStatusResponse): EndpointStatus {
  return {
    memberId: hex(status.header.member_id),
    clusterId: clusterIdOf(status.header),
    leader: hex(status.leader),
    version: status.version,
    isLearner: status.isLearner,
    raftIndex: BigInt(status.raftIndex),
    raftAppliedIndex: BigInt(status.raftAppliedIndex),
    raftTerm: BigInt(status.raftTerm),
    revision: BigInt(status.header.revision),
    dbSize: BigInt(status.dbSize),
    dbSizeInUse: BigInt(status.dbSizeInUse),
    errors: status.errors,
  };
}

export function clusterIdOf({ cluster_id }: IResponseHeader): string {
  return hex(cluster_id);
}
