/** Translates etcd3's values: our IDs are hex, as etcd prints them; etcd3's are decimal strings. */

import type { IMemberListResponse, IResponseHeader, IStatusResponse } from 'etcd3';
import { type EndpointStatus, EtcdError, type MemberId, type MemberList } from '../interfaces/etcd.ts';

/** As many as a list may have: etcd advises against more than seven. */
export const mostMembers = 64;

export function hex(id: string): MemberId {
  return BigInt(id).toString(16);
}

/** @throws {EtcdError} when it is no member ID: then nothing is asked. */
export function decimal(call: string, id: MemberId): string {
  if (!/^[0-9a-f]{1,16}$/.test(id))
    throw new EtcdError(`${call}: not sent: ${JSON.stringify(id)} is not a member ID (up to 16 hex digits)`, 'down');
  return BigInt(`0x${id}`).toString();
}

/** @throws {Error} when it has no header, or is longer than any that is believed */
export function memberListOf({ header, members }: IMemberListResponse): MemberList {
  if (members.length > mostMembers) throw new Error(`a list of ${members.length} members is no answer`);
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

/** @throws {Error} when it has no header */
export function statusOf(status: IStatusResponse): EndpointStatus {
  return {
    clusterId: clusterIdOf(status.header),
    memberId: hex(status.header.member_id),
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

/** @throws {Error} without a header: not etcd answered */
export function clusterIdOf(header: IResponseHeader | null): string {
  if (!header) throw new Error('an answer without a header is no answer of etcd');
  return hex(header.cluster_id);
}
