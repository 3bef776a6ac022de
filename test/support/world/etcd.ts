import { EtcdError, type EtcdTls, type ListedMember, type MemberList } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { changing } from './etcd-changes.ts';
import { isInQuorum, leaderOf } from './quorum.ts';
import { revisionOf } from './revisions.ts';
import { sizesIn } from './space.ts';
import type { Process, State } from './state.ts';
import { isTurnedAway, partyOf, whyNotClient } from './tls.ts';
import type { Party } from './tls-state.ts';

/** The etcd client of the world: asks the processes that run at those addresses. */
export function etcdOf(state: State, tls?: EtcdTls): EtcdAdmin {
  const me =
    tls && partyOf(state, { 'tls.crt': encoded(tls.cert), 'tls.key': encoded(tls.key), 'ca.crt': encoded(tls.ca) });
  return {
    members: async (endpoints) => listed(state, reachedBy(endpoints)),
    lastMembers: async (endpoints) => {
      const [process] = reachedBy(endpoints);
      if (!process) throw new EtcdError('no endpoint answers', 'down');
      return listOf(state, process.data.clusterId);
    },
    status: async (endpoint) => {
      const { data, version } = needed(state, endpoint, me);
      const member = state.formations.get(data.clusterId)?.members.find(({ id }) => id === data.memberId);
      const applied = BigInt(100 + data.applied);
      return {
        memberId: data.memberId,
        clusterId: data.clusterId,
        leader: leaderOf(state, data.clusterId)?.data.memberId ?? '0',
        version,
        isLearner: member?.isLearner ?? false,
        raftIndex: applied,
        raftAppliedIndex: applied,
        raftTerm: 2n,
        revision: BigInt(revisionOf(state, data)),
        ...sizesIn(state, data),
      };
    },
    version: async (endpoint) => {
      const { version, data } = needed(state, endpoint, me);
      const settled = state.formations.get(data.clusterId)?.version;
      return { server: version, cluster: settled === undefined ? 'not_decided' : `${settled}.0` };
    },
    // Without TLS, whatever it is asked with.
    metrics: async (endpoint) => {
      const { data } = running(state, endpoint);
      const members = state.formations.get(data.clusterId)?.members ?? [];
      return {
        memberId: data.memberId,
        hasLeader: leaderOf(state, data.clusterId) !== undefined,
        isLearner: members.some(({ id, isLearner }) => isLearner && id === data.memberId),
        applied: BigInt(100 + data.applied),
        revision: BigInt(revisionOf(state, data)),
        others: members.flatMap(({ id }) => (id === data.memberId ? [] : [id])),
      };
    },
    counters: async (endpoint) => {
      running(state, endpoint);
      return { leaderChanges: 1, failedProposals: 0, fsyncs: 0, slowFsyncs: 0, commits: 0, slowCommits: 0 };
    },
    ...changing(state, reachedBy),
    close: () => undefined,
  };

  function reachedBy(endpoints: readonly string[]): readonly Process[] {
    return endpoints.flatMap((endpoint) => {
      const process = processAt(state, endpoint);
      return process?.served && whyNotClient(state, process, me) === undefined ? [process] : [];
    });
  }
}

function listed(state: State, reached: readonly Process[]): MemberList {
  const serving = reached.find((process) => isInQuorum(state, process));
  if (!serving) throw new EtcdError(reached.length === 0 ? 'no endpoint answers' : 'no quorum', 'down');
  return listOf(state, serving.data.clusterId);
}

function listOf(state: State, clusterId: string): MemberList {
  const formation = state.formations.get(clusterId);
  const members = (formation?.members ?? []).map(
    ({ id, url, isLearner }): ListedMember => ({
      id,
      name: formation?.published.get(id) ?? '',
      peerURLs: [url],
      clientURLs: [],
      isLearner,
    }),
  );
  return { clusterId, members };
}

function processAt(state: State, endpoint: string): Process | undefined {
  const { hostname } = new URL(endpoint);
  return [...state.processes.values()].find(({ address }) => address === hostname);
}

function running(state: State, endpoint: string): Process {
  const process = processAt(state, endpoint);
  if (!process) throw new EtcdError(`nothing listens at ${endpoint}`, 'down');
  return process;
}

function needed(state: State, endpoint: string, me: Party | undefined): Process {
  const process = running(state, endpoint);
  const why = whyNotClient(state, process, me);
  const problem = isTurnedAway(state, process, me) ? 'ClientCertificateRefused' : 'HandshakeFailed';
  if (why !== undefined) throw new EtcdError(`no TLS with ${endpoint}: ${why}`, 'down', undefined, problem);
  if (!process.served) throw new EtcdError(`${endpoint} has had no quorum since its start`, 'ambiguous');
  return process;
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
