import type { Etcd3, IAlarmMember, IHashKVResponse } from 'etcd3';
import { EtcdError } from '../interfaces/etcd.ts';
import type { Alarm, EtcdAdmin } from '../interfaces/etcd-admin.ts';
import type { CallOptions, Calls } from './etcd-calls.ts';
import { anotherCluster, change, notToBeSent } from './etcd-change.ts';
import { fromAny, readStatus } from './etcd-reading.ts';
import { clusterIdOf, decimal, hex } from './etcd-values.ts';

const hashTimeoutMs = 30_000;
const defragmentTimeoutMs = 60_000;

type Maintenance = Pick<EtcdAdmin, 'hashKv' | 'defragment' | 'alarms' | 'hasHistory' | 'disarm' | 'compact'>;

export function maintenance(calls: Calls): Maintenance {
  return {
    hashKv: async (endpoint, { signal, revision, timeoutMs = hashTimeoutMs }) => {
      // 0 would be "whatever this member has by now", which compares with nothing.
      if (revision < 1n) throw new EtcdError(`hash at ${endpoint}: not asked: ${revision} is no revision`, 'down');
      const { header, hash, compact_revision } = await calls.ask(
        `hash at revision ${revision}`,
        endpoint,
        signal,
        (client, options) => hashKv(client, revision, options),
        timeoutMs,
      );
      return {
        clusterId: clusterIdOf(header),
        memberId: hex(header.member_id),
        hash: Number(hash),
        // 3.6 and later say it themselves, 3.5 does not; for a revision that was asked for it is that one.
        hashRevision: revision,
        compactRevision: BigInt(compact_revision),
      };
    },
    defragment: async (endpoint, { signal, memberId, timeoutMs = defragmentTimeoutMs }) => {
      const call = `defragment ${memberId}`;
      const status = await readStatus(calls, endpoint, signal).catch((cause: EtcdError) => {
        // It was only looked at: nothing of the defragmentation is in doubt.
        throw new EtcdError(`${call}: not sent: ${cause.message}`, 'down', cause, cause.tls);
      });
      if (status.memberId !== memberId)
        throw notToBeSent(call, endpoint, 'AnotherMember', `${status.memberId} lives there`);
      await calls.ask(call, endpoint, signal, (client, options) => client.maintenance.defragment(options), timeoutMs);
    },
    alarms: (endpoints, { signal, clusterId }) =>
      fromAny('alarm list', endpoints, signal, (endpoint, attempt) =>
        calls.ask('alarm list', endpoint, attempt, async (client, options) => {
          const { header, alarms } = await client.maintenance.alarm({ action: 'Get' }, options);
          const actual = clusterIdOf(header);
          if (actual !== clusterId) throw anotherCluster(endpoint, actual, clusterId);
          return alarms.map((alarm) => alarmOf(endpoint, alarm));
        }),
      ),
    hasHistory: async (endpoints, revision, { signal, clusterId }) => {
      // The first revision is the empty store.
      if (revision < 2n) return false;
      return fromAny('history', endpoints, signal, async (endpoint, attempt) => {
        const actual = await clusterIdBefore(calls, revision, endpoint, attempt);
        if (actual === undefined) return false;
        if (actual !== clusterId) throw anotherCluster(endpoint, actual, clusterId);
        return true;
      });
    },
    disarm: async (endpoints, { memberId, alarm }, options) => {
      const call = `disarm ${alarm} of ${memberId}`;
      const request = { action: 'Deactivate', memberID: decimal(call, memberId), alarm: theirs[alarm] } as const;
      await change<unknown>(calls, {
        call,
        endpoints,
        options,
        run: (client, callOptions) => client.maintenance.alarm(request, callOptions),
      });
    },
    compact: async (endpoints, revision, options) => {
      // Not physical, etcd answers before anything has been dropped, and a defragmentation right after it would gain
      // nothing.
      const request = { revision: String(revision), physical: true };
      await change<unknown>(calls, {
        call: `compact to revision ${revision}`,
        endpoints,
        options,
        run: (client, callOptions) => client.kv.compact(request, callOptions),
      });
    },
  };
}

/** From any member that still has the history before this revision; `undefined` where it is compacted away. */
async function clusterIdBefore(
  calls: Calls,
  revision: bigint,
  endpoint: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Any key will do: nothing of it is sent but how often it is there.
  const request = { key: Buffer.from([0]), revision: String(revision - 1n), count_only: true };
  try {
    return await calls.ask(`history before revision ${revision}`, endpoint, signal, async (client, options) =>
      clusterIdOf((await client.kv.range(request, options)).header),
    );
  } catch (error) {
    if (error instanceof EtcdError && error.reason === 'Compacted') return undefined;
    throw error;
  }
}

/** etcd3's own `hashKV` calls gRPC's method by a name that it does not have. */
function hashKv(client: Etcd3, revision: bigint, options: CallOptions): Promise<IHashKVResponse> {
  const { pool } = client as unknown as { readonly pool: Pool };
  return pool.exec('Maintenance', 'HashKV', { revision: String(revision) }, options);
}

/** The part of etcd3's connection pool through which all of its own calls go. */
interface Pool {
  exec(
    service: 'Maintenance',
    method: 'HashKV',
    request: { readonly revision: string },
    options: CallOptions,
  ): Promise<IHashKVResponse>;
}

const theirs = { NOSPACE: 'Nospace', CORRUPT: 'Corrupt' } as const satisfies Record<
  Alarm['alarm'],
  IAlarmMember['alarm']
>;

function alarmOf(endpoint: string, { memberID, alarm }: IAlarmMember): Alarm {
  if (alarm === 'Nospace') return { memberId: hex(memberID), alarm: 'NOSPACE' };
  if (alarm === 'Corrupt') return { memberId: hex(memberID), alarm: 'CORRUPT' };
  throw new EtcdError(
    `alarm list at ${endpoint}: ${hex(memberID)} raises ${alarm}, which is not known here`,
    'refused',
  );
}
