import { type Etcd, EtcdError, type EtcdTls, type ListedMember } from '../../reconcile/etcd.ts';
import { hasQuorum, isInQuorum, type Process, runningOf, type State } from './state.ts';
import { isTurnedAway, type Party, partyOf, whyNotClient } from './tls.ts';

/** The etcd client of the world: asks the processes that run at those addresses. */
export function etcdOf(state: State, tls?: EtcdTls): Etcd {
  const me =
    tls && partyOf(state, { 'tls.crt': encoded(tls.cert), 'tls.key': encoded(tls.key), 'ca.crt': encoded(tls.ca) });
  return {
    members: async (endpoints) => {
      const reached = endpoints.flatMap((endpoint) => {
        const process = processAt(state, endpoint);
        return process && whyNotClient(state, process, me) === undefined ? [process] : [];
      });
      const serving = reached.find((process) => isInQuorum(state, process));
      if (!serving) throw new EtcdError(reached.length === 0 ? 'no endpoint answers' : 'no quorum', 'down');
      const { clusterId } = serving.data;
      const formation = state.formations.get(clusterId);
      const members = (formation?.voters ?? []).map(
        ({ id, url, name }): ListedMember => ({
          id,
          name: formation?.published.has(id) ? name : '',
          peerURLs: [url],
          clientURLs: [],
          isLearner: false,
        }),
      );
      return { clusterId, members };
    },
    status: async (endpoint) => {
      const { data, version } = needed(state, endpoint, me);
      const leader = hasQuorum(state, data.clusterId) ? leaderOf(state, data.clusterId) : '0';
      return {
        memberId: data.memberId,
        clusterId: data.clusterId,
        leader,
        version,
        isLearner: false,
        raftIndex: 100n,
        raftAppliedIndex: 100n,
        raftTerm: 2n,
        revision: 1n,
        dbSize: 20480n,
        dbSizeInUse: 16384n,
        errors: [],
      };
    },
    version: async (endpoint) => {
      const { version } = needed(state, endpoint, me);
      return { server: version, cluster: version.replace(/\d+$/, '0') };
    },
    close: () => undefined,
  };
}

function leaderOf(state: State, clusterId: string): string {
  return (
    runningOf(state, clusterId)
      .map(({ data }) => data.memberId)
      .toSorted()[0] ?? '0'
  );
}

function processAt(state: State, endpoint: string): Process | undefined {
  const { hostname } = new URL(endpoint);
  return [...state.processes.values()].find(({ address }) => address === hostname);
}

function needed(state: State, endpoint: string, me: Party | undefined): Process {
  const process = processAt(state, endpoint);
  if (!process) throw new EtcdError(`nothing listens at ${endpoint}`, 'down');
  const why = whyNotClient(state, process, me);
  const problem = isTurnedAway(state, process, me) ? 'ClientCertificateRefused' : 'HandshakeFailed';
  if (why !== undefined) throw new EtcdError(`no TLS with ${endpoint}: ${why}`, 'down', undefined, problem);
  return process;
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
