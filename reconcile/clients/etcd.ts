/**
 * `Etcd` with etcd3, behind guards: no retries (a repeated membership call meets its own first attempt), a fresh deadline
 * on every call (etcd3 has none of its own, and `dialTimeout` does nothing), one client per endpoint (with several,
 * etcd3 asks a random one).
 */

import type { Interceptor } from '@grpc/grpc-js';
import type { Etcd3, IMemberListResponse, IResponseHeader, IStatusResponse } from 'etcd3';
import { type EndpointStatus, type Etcd, EtcdError, type MemberId, type MemberList } from '../etcd.ts';
import { allFailed, etcdError } from './etcd-errors.ts';
import { readVersion } from './etcd-version.ts';
import { hedge } from './hedge.ts';
import { limitOf } from './limit.ts';

export interface EtcdOptions {
  /** For one call to one endpoint, in milliseconds. Default: 2,000. */
  readonly callTimeoutMs?: number;
}

type CallOptions = { readonly deadline: Date; readonly interceptors: Interceptor[] };

/** How long an endpoint may be silent before the next one is asked as well. */
const patienceMs = 300;

/** Connects to nothing yet; etcd3 itself is loaded by the first call. */
export function connectEtcd({ callTimeoutMs = 2_000 }: EtcdOptions = {}): Etcd {
  const clients = new Map<string, Etcd3>();
  const closing = new AbortController();
  let library: Promise<typeof import('./etcd3.ts')> | undefined;

  return {
    members: async (endpoints, { signal, barrier = false }) => {
      const call = 'member list';
      if (endpoints.length === 0) throw new EtcdError(`${call}: there is no endpoint to ask`, 'down');
      const read = (endpoint: string, attempt: AbortSignal) => listMembers(endpoint, attempt, barrier);
      const settled = await hedge(endpoints, read, { patienceMs, signal });
      if (settled.kind === 'first') return settled.value;
      const failures = settled.errors.filter((error) => error instanceof EtcdError);
      if (failures.length > 0) throw allFailed(call, failures);
      throw new EtcdError(`${call}: not asked, the time was up already`, 'down', settled.errors[0]);
    },
    status: (endpoint, { signal }) =>
      ask('status', endpoint, signal, async (client, options) => statusOf(await client.maintenance.status(options))),
    version: (endpoint, { signal }) =>
      bounded('GET /version', endpoint, signal, (limit) => readVersion(endpoint, limit)),
    close: () => {
      closing.abort(new Error('the etcd client was closed'));
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };

  /** With a barrier, both calls go to one endpoint: what it has applied by then, its list shows. */
  async function listMembers(endpoint: string, signal: AbortSignal, barrier: boolean): Promise<MemberList> {
    // An alarm GET changes nothing, but it is a proposal: it is answered when all that was proposed before it is decided.
    if (barrier)
      await ask('alarm list', endpoint, signal, (client, options) =>
        client.maintenance.alarm({ action: 'Get' }, options),
      );
    return ask('member list', endpoint, signal, async (client, options) =>
      memberListOf(await client.cluster.memberList({ linearizable: true }, options)),
    );
  }

  /** Loading it takes 0.1 s, which a pass that finds nothing to ask can save. */
  function loaded(): Promise<typeof import('./etcd3.ts')> {
    library ??= import('./etcd3.ts');
    return library;
  }

  function ask<T>(
    call: string,
    endpoint: string,
    signal: AbortSignal,
    run: (client: Etcd3, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    return bounded(call, endpoint, signal, async (limit) => {
      const { connect, cancelledBy } = await loaded();
      // etcd3 closes all channels of a client when one call on it is cancelled, as a slower member list is: a status that
      // waits on one of them would fail for it, of a member that is well.
      const key = `${call === 'status' ? 'status' : 'members'} ${endpoint}`;
      const client = clients.get(key) ?? connect(endpoint);
      clients.set(key, client);
      // A little after our own limit: it is there for what an interceptor cannot reach.
      const deadline = new Date(Date.now() + callTimeoutMs + 100);
      return run(client, { deadline, interceptors: [cancelledBy(limit.signal)] });
    });
  }

  async function bounded<T>(
    call: string,
    endpoint: string,
    signal: AbortSignal,
    run: (limit: ReturnType<typeof limitOf>) => Promise<T>,
  ): Promise<T> {
    if (closing.signal.aborted) throw new EtcdError(`${call} at ${endpoint}: the client was closed`, 'down');
    if (signal.aborted) throw new EtcdError(`${call} at ${endpoint}: not asked, the time was up already`, 'down');
    const limit = limitOf(signal, callTimeoutMs);
    const stop = () => limit.stop(closing.signal.reason);
    closing.signal.addEventListener('abort', stop, { once: true });
    try {
      return await limit.race(run(limit));
    } catch (cause) {
      if (cause instanceof EtcdError || !limit.expired()) throw etcdError(call, endpoint, cause);
      throw new EtcdError(`${call} at ${endpoint}: no answer ${limit.words()}`, 'ambiguous', cause);
    } finally {
      closing.signal.removeEventListener('abort', stop);
      limit.release();
    }
  }
}

function memberListOf({ header, members }: IMemberListResponse): MemberList {
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

function statusOf(status: IStatusResponse): EndpointStatus {
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

function clusterIdOf({ cluster_id }: IResponseHeader): string {
  return hex(cluster_id);
}

/** etcd3 gives IDs as decimal strings; etcd and its tools print hex. */
function hex(id: string): MemberId {
  return BigInt(id).toString(16);
}
